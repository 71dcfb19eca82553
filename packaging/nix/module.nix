# services.eva-kernel for NixOS: one kernel, its settings, its MCP servers.
#
#   services.eva-kernel = {
#     enable = true;
#     settings.llm = { provider = "anthropic"; model.general = "claude-sonnet-5-5"; models = [ { name = "claude-sonnet-5-5"; } ]; };
#     extraConfigFiles = [ "/run/secrets/eva-kernel.yaml" ];   # llm: { api_key: ... }, server: { token: ... }
#   };
#   users.users.eva-kernel = { isSystemUser = true; group = "eva-kernel"; };
#   users.groups.eva-kernel = { };
packageFor:
{
  config,
  lib,
  pkgs,
  utils,
  ...
}:
let
  cfg = config.services.eva-kernel;
  yaml = pkgs.formats.yaml { };
  configFile = yaml.generate "eva-kernel.yaml" cfg.settings;
  configFiles = [ configFile ] ++ cfg.extraConfigFiles;

  linkDirectory = "/run/eva-mcp";
  stdioServers = lib.filterAttrs (_: server: server.command != null) cfg.mcp;

  # What a link points at: the server's command, marked so that activation finds its processes.
  launcher =
    name: server:
    pkgs.writeShellScript "eva-mcp-${name}" ''
      export EVA_MCP_SERVER=${linkDirectory}/${name}
      exec ${lib.escapeShellArgs server.command} "$@"
    '';

  # What the kernel reads. No store path of a server is in it: a new version changes the link alone.
  serverSettings =
    name: server:
    lib.filterAttrs (_: value: value != null) (
      server
      // {
        command = if server.command == null then null else [ "${linkDirectory}/${name}" ];
        env = if server.env == { } then null else server.env;
      }
    );

  mcpServer = lib.types.submodule {
    options = {
      command = lib.mkOption {
        type = lib.types.nullOr (lib.types.listOf lib.types.str);
        default = null;
        description = "Program and arguments of a server that the kernel starts and talks to over stdio.";
      };
      url = lib.mkOption {
        type = lib.types.nullOr lib.types.str;
        default = null;
        description = "Address of a server that is reached over streamable HTTP.";
      };
      env = lib.mkOption {
        type = lib.types.attrsOf lib.types.str;
        default = { };
        description = "Environment of a stdio server. It is readable by everybody: secrets belong in extraConfigFiles.";
      };
      access = lib.mkOption {
        type = lib.types.enum [
          "master"
          "allowed"
          "everyone"
        ];
        default = "master";
        description = "Who may use its tools.";
      };
      trusted_only = lib.mkOption {
        type = lib.types.bool;
        default = false;
        description = "Whether its tools exist in trusted turns only.";
      };
      timeout = lib.mkOption {
        type = lib.types.nullOr lib.types.str;
        default = null;
        example = "1m";
        description = "How long one call may take.";
      };
      description = lib.mkOption {
        type = lib.types.nullOr lib.types.str;
        default = null;
        description = "What its tools are good for, in place of what the server says.";
      };
    };
  };
in
{
  options.services.eva-kernel = {
    enable = lib.mkEnableOption "eva-kernel, a home for one person's AI agent";

    package = lib.mkOption {
      type = lib.types.package;
      default = packageFor pkgs;
      defaultText = lib.literalExpression "eva-kernel.packages.\${system}.default";
      description = "The program.";
    };

    user = lib.mkOption {
      type = lib.types.str;
      default = "eva-kernel";
      description = "The user that it runs as. The module does not create it.";
    };

    group = lib.mkOption {
      type = lib.types.str;
      default = "eva-kernel";
      description = "The group that it runs as. The module does not create it.";
    };

    settings = lib.mkOption {
      default = { };
      description = ''
        The configuration, as config.yaml holds it. It lies in the store, readable by everybody: keys and the
        token belong in extraConfigFiles.
      '';
      type = lib.types.submodule {
        freeformType = yaml.type;
        options = {
          server.listen = lib.mkOption {
            type = lib.types.str;
            default = "127.0.0.1:8090";
            description = "Address and port to listen on.";
          };
          db.path = lib.mkOption {
            type = lib.types.str;
            default = "/var/lib/eva-kernel/eva.db";
            description = "The database.";
          };
        };
      };
    };

    extraConfigFiles = lib.mkOption {
      type = lib.types.listOf lib.types.str;
      default = [ ];
      example = [ "/run/secrets/eva-kernel.yaml" ];
      description = ''
        Files that are laid over the settings, in order. They stay out of the store and must be readable by the
        user of the service.
      '';
    };

    mcp = lib.mkOption {
      type = lib.types.attrsOf mcpServer;
      default = { };
      description = ''
        MCP servers. The program of a stdio server hides behind the link ${linkDirectory}/NAME, so that a new version
        of it neither changes config.yaml nor restarts the kernel.
      '';
    };
  };

  config = lib.mkIf cfg.enable {
    assertions = lib.mapAttrsToList (name: server: {
      assertion = (server.command == null) != (server.url == null);
      message = "services.eva-kernel.mcp.${name} needs either a command or a url";
    }) cfg.mcp;

    services.eva-kernel.settings = lib.mkIf (cfg.mcp != { }) {
      mcp.servers = lib.mapAttrs serverSettings cfg.mcp;
    };

    # Also without any server: the last one's link and process go away with its setting.
    system.activationScripts.eva-mcp.text = ''
      PATH=${
        lib.makeBinPath [
          pkgs.coreutils
          pkgs.gnugrep
        ]
      } ${pkgs.runtimeShell} ${./swap-mcp.sh} ${linkDirectory} ${
        lib.escapeShellArgs (
          lib.mapAttrsToList (name: server: "${name}=${launcher name server}") stdioServers
        )
      }
    '';

    systemd.services.eva-kernel = {
      description = "eva-kernel: a home for one person's AI agent";
      documentation = [ "man:eva-kernel(1)" ];
      wantedBy = [ "multi-user.target" ];
      wants = [ "network-online.target" ];
      after = [ "network-online.target" ];
      # A shell tool needs what the host offers, and that is more than coreutils.
      path = [
        "/run/wrappers"
        "/run/current-system/sw"
      ];
      # The runtime clears up as on a machine of 512 MiB: a fifth less memory under load. It takes more when it must.
      environment.BUN_JSC_forceRAMSize = "536870912";
      serviceConfig = {
        Type = "exec";
        ExecStart = utils.escapeSystemdExecArgs (
          [
            "${cfg.package}/bin/eva-kernel"
            "serve"
          ]
          ++ lib.concatMap (file: [
            "--config"
            "${file}"
          ]) configFiles
        );
        User = cfg.user;
        Group = cfg.group;
        StateDirectory = "eva-kernel";
        StateDirectoryMode = "0700";
        WorkingDirectory = "/var/lib/eva-kernel";
        Restart = "on-failure";
        RestartSec = 2;
        # Above server.drain: running turns may end by themselves.
        TimeoutStopSec = 180;
        UMask = "0077";
        UnsetEnvironment = "BUN_OPTIONS BUN_BE_BUN BUN_INSPECT BUN_INSPECT_PRELOAD";

        # The agent's tools run in the same sandbox; a host opens what they need with lib.mkForce.
        NoNewPrivileges = true;
        CapabilityBoundingSet = "";
        ProtectSystem = "strict";
        ProtectHome = true;
        PrivateTmp = true;
        PrivateDevices = true;
        ProtectClock = true;
        ProtectControlGroups = true;
        ProtectHostname = true;
        ProtectKernelLogs = true;
        ProtectKernelModules = true;
        ProtectKernelTunables = true;
        ProtectProc = "invisible";
        LockPersonality = true;
        RemoveIPC = true;
        RestrictAddressFamilies = [
          "AF_UNIX"
          "AF_INET"
          "AF_INET6"
          "AF_NETLINK"
        ];
        RestrictRealtime = true;
        RestrictSUIDSGID = true;
        SystemCallArchitectures = "native";
        SystemCallFilter = [
          "@system-service"
          "@mount"
        ];
        SystemCallErrorNumber = "EPERM";
      };
    };
  };
}
