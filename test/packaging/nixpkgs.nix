# As much of nixpkgs as the flake and its module use, so that tests can evaluate both where there is no nixpkgs:
# options get their defaults and are checked for unknown names, derivations are the arguments they were made of.
let
  inherit (builtins)
    attrNames
    concatMap
    concatStringsSep
    filter
    hasAttr
    isAttrs
    listToAttrs
    mapAttrs
    replaceStrings
    ;

  quote = text: "'${replaceStrings [ "'" ] [ "'\\''" ] (toString text)}'";

  recursiveUpdate =
    a: b:
    a
    // mapAttrs (
      name: value: if isAttrs value && isAttrs (a.${name} or null) then recursiveUpdate a.${name} value else value
    ) b;

  lib = {
    inherit concatMap recursiveUpdate;
    inherit (builtins) mapAttrs;
    mapAttrsToList = f: set: map (name: f name set.${name}) (attrNames set);
    filterAttrs =
      keep: set:
      listToAttrs (
        map (name: {
          inherit name;
          value = set.${name};
        }) (filter (name: keep name set.${name}) (attrNames set))
      );
    escapeShellArgs = words: concatStringsSep " " (map quote words);
    makeBinPath = packages: concatStringsSep ":" (map (package: "${package}/bin") packages);
    literalExpression = text: text;
    mkIf = condition: value: if condition then value else { };
    mkOption = option: option // { _type = "option"; };
    mkEnableOption =
      what:
      lib.mkOption {
        type = lib.types.bool;
        default = false;
        description = what;
      };
    optional = condition: value: if condition then [ value ] else [ ];
    optionalAttrs = condition: set: if condition then set else { };
    types = {
      bool.is = builtins.isBool;
      str.is = builtins.isString;
      package.is = _: true;
      enum = values: { is = value: builtins.elem value values; };
      nullOr = type: { is = value: value == null || type.is value; };
      listOf = type: { is = value: builtins.isList value && builtins.all type.is value; };
      attrsOf = type: type // { each = true; };
      submodule = module: module // { submodule = true; };
    };
  };

  # The value of an option that was given `value`, or was not given one when `given` is false.
  valueOf =
    path: option: given: value:
    let
      type = option.type;
    in
    if !given then
      (if type.submodule or false && !(type.each or false) then fill path type option.default else option.default)
    else if type.each or false then
      mapAttrs (
        name: inner:
        if type.submodule or false then fill "${path}.${name}" type inner else checked "${path}.${name}" type inner
      ) value
    else if type.submodule or false then
      fill path type value
    else
      checked path type value;

  checked = path: type: value: if type.is value then value else throw "${path}: wrong type";

  # Every option of a tree, and what else is there when the module is freeform.
  fill =
    path: module: given:
    let
      isOption = option: option._type or "" == "option";
      unknown = filter (name: !(hasAttr name module.options)) (attrNames given);
      known = mapAttrs (
        name: option:
        if isOption option then
          valueOf "${path}.${name}" option (hasAttr name given) (given.${name} or null)
        else
          fill "${path}.${name}" {
            options = option;
            freeformType = module.freeformType or null;
          } (given.${name} or { })
      ) module.options;
    in
    if unknown != [ ] && (module.freeformType or null) == null then
      throw "there is no option ${path}.${builtins.head unknown}"
    else
      given // known;
in
{
  inherit lib;

  pkgs = rec {
    inherit lib;
    stdenv = {
      hostPlatform = {
        isLinux = true;
        system = "x86_64-linux";
      };
      cc.cc.lib = "/cc";
      mkDerivation = arguments: arguments // { outPath = "/nix/${arguments.pname}"; };
    };
    stdenvNoCC = stdenv;
    fetchurl = arguments: arguments.url;
    autoPatchelfHook = "/hook";
    installShellFiles = "/hook";
    runtimeShell = "/bin/sh";
    coreutils = "/coreutils";
    gnugrep = "/gnugrep";
    curl = "/curl";
    bashInteractive = "/bash";
    nodejs = "/node";
    chromium = "/chromium";
    mkShell = arguments: arguments;
    runCommand = name: _: script: {
      inherit name script;
      outPath = "/nix/${name}";
    };
    # A path that changes with the text, as in the store.
    writeShellScript = name: text: "/nix/${builtins.hashString "sha256" text}-${name}";
    formats.yaml = _: {
      type = "yaml";
      generate = name: value: "/nix/${builtins.hashString "sha256" (builtins.toJSON value)}-${name}";
    };
    dockerTools = {
      streamLayeredImage = arguments: arguments;
      caCertificates = "/certificates";
    };
  };

  # What a NixOS module makes of `services.eva-kernel = given`.
  evaluate =
    { module, pkgs }:
    given:
    let
      evaluated = module {
        inherit lib pkgs config;
        utils.escapeSystemdExecArgs = concatStringsSep " ";
      };
      own = fill "services.eva-kernel" { options = evaluated.options.services.eva-kernel; } given;
      config.services.eva-kernel = own // {
        settings = recursiveUpdate own.settings (evaluated.config.services.eva-kernel.settings or { });
      };
    in
    {
      inherit (evaluated) config;
      options = config.services.eva-kernel;
    };
}
