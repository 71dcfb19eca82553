{
  description = "A provider-independent home for one person's AI agent: one binary over one SQLite file";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs =
    { self, nixpkgs }:
    let
      bunVersion = "1.4.5";

      # Bun as the npm registry carries it, in exactly the version that everything here is tested with.
      bunArchives = {
        x86_64-linux = {
          name = "bun-linux-x64";
          hash = "sha512-IWX9BELoGHAUtMonkeSaNaZwXzRk+oDw6Mk+HBFXd3KHYIBNBsIGRupMZPcgNoDbJpLu6gAJjIoIVPZtt1aJ1g==";
        };
        aarch64-linux = {
          name = "bun-linux-aarch64";
          hash = "sha512-4BXmsSKnjOrlGWqZV4x/oWa7AVoR+B6lCXddMzOAXBIm3t50eslg9wb66gmtW1AamEQ1l1CDvmmruysEhqOWMg==";
        };
        x86_64-darwin = {
          name = "bun-darwin-x64";
          hash = "sha512-qkLPMGHZM9NI6CeHTWwVezzmlo6cC4Ta7yUAjYIWXS366qQcOlcp75t2uZyiuVRBMPS0h9qE0tCcvCHGaFqjJg==";
        };
        aarch64-darwin = {
          name = "bun-darwin-aarch64";
          hash = "sha512-4MIFXHmctH2EhAxLXm2/qxNtv17dFtLJylvaOCsrgq6KSqHTs6eW5YSrJjRbJxYUJaR901fsN8JfZOa+CsWpWQ==";
        };
      };

      # Of node_modules as `bun install` lays it out. After a change of bun.lock a build prints the new one.
      modulesHash = "sha256-pWnGqBoBo6usKAGzByXJwbG4gZT5uHklglZzSHicmzE=";

      eachSystem =
        make:
        nixpkgs.lib.mapAttrs (system: _: make nixpkgs.legacyPackages.${system} system) bunArchives;

      bunFor =
        pkgs: system:
        pkgs.stdenv.mkDerivation {
          pname = "bun";
          version = bunVersion;
          src = pkgs.fetchurl {
            url = "https://registry.npmjs.org/@oven/${bunArchives.${system}.name}/-/${bunArchives.${system}.name}-${bunVersion}.tgz";
            inherit (bunArchives.${system}) hash;
          };
          nativeBuildInputs = pkgs.lib.optional pkgs.stdenv.hostPlatform.isLinux pkgs.autoPatchelfHook;
          buildInputs = [ pkgs.stdenv.cc.cc.lib ];
          dontBuild = true;
          dontStrip = true;
          installPhase = ''
            runHook preInstall
            install -Dm755 bin/bun $out/bin/bun
            runHook postInstall
          '';
        };

      packageFor =
        pkgs: system:
        let
          inherit (pkgs) lib;
          bun = bunFor pkgs system;
          manifest = lib.importJSON ./package.json;

          # Fixed-output, so it may use the network; development and platform packages are left out.
          modules = pkgs.stdenvNoCC.mkDerivation {
            pname = "eva-kernel-modules";
            inherit (manifest) version;
            src = lib.fileset.toSource {
              root = ./.;
              fileset = lib.fileset.unions [
                ./package.json
                ./bun.lock
                ./bunfig.toml
                ./patches
              ];
            };
            nativeBuildInputs = [ bun ];
            dontConfigure = true;
            dontFixup = true;
            buildPhase = ''
              runHook preBuild
              export HOME=$TMPDIR
              bun install --frozen-lockfile --production --omit=optional --ignore-scripts --backend=copyfile
              runHook postBuild
            '';
            installPhase = ''
              runHook preInstall
              mkdir $out
              mv node_modules $out/
              runHook postInstall
            '';
            outputHashMode = "recursive";
            outputHash = modulesHash;
          };
        in
        pkgs.stdenv.mkDerivation {
          pname = "eva-kernel";
          inherit (manifest) version;
          src = lib.fileset.toSource {
            root = ./.;
            fileset = lib.fileset.unions [
              ./package.json
              ./tsconfig.json
              ./scripts/build.ts
              ./src
            ];
          };
          nativeBuildInputs = [
            bun
            pkgs.installShellFiles
          ];
          dontConfigure = true;
          # The program is data behind the executable's code: stripping or patching would cut it off.
          dontStrip = true;
          dontPatchELF = true;
          EVA_COMMIT = self.shortRev or self.dirtyShortRev or "unknown";
          buildPhase = ''
            runHook preBuild
            export HOME=$TMPDIR
            ln -s ${modules}/node_modules node_modules
            bun scripts/build.ts
            runHook postBuild
          '';
          installPhase = ''
            runHook preInstall
            install -Dm755 dist/eva-kernel $out/bin/eva-kernel
            $out/bin/eva-kernel man > eva-kernel.1
            installManPage eva-kernel.1
            installShellCompletion --cmd eva-kernel \
              --bash <($out/bin/eva-kernel completions bash) \
              --zsh <($out/bin/eva-kernel completions zsh) \
              --fish <($out/bin/eva-kernel completions fish)
            runHook postInstall
          '';
          doInstallCheck = true;
          installCheckPhase = ''
            runHook preInstallCheck
            $out/bin/eva-kernel --version
            runHook postInstallCheck
          '';
          meta = {
            inherit (manifest) description;
            license = lib.licenses.mit;
            mainProgram = "eva-kernel";
            platforms = builtins.attrNames bunArchives;
          };
        };

      # The pages of docs/, the reference of this very build, and the example to copy.
      docsFor =
        pkgs: system:
        pkgs.runCommand "eva-kernel-docs" { } ''
          mkdir -p $out/share/doc/eva-kernel
          cp -r ${./docs}/. $out/share/doc/eva-kernel
          cp ${./README.md} $out/share/doc/eva-kernel/README.md
          chmod -R u+w $out
          ${packageFor pkgs system}/bin/eva-kernel config reference > $out/share/doc/eva-kernel/reference/config.md
          ${packageFor pkgs system}/bin/eva-kernel config example > $out/share/doc/eva-kernel/config.example.yaml
        '';

      # Nobody but the kernel, and what a shell tool expects at least. `./result | docker load` loads it.
      dockerImageFor =
        pkgs: system:
        pkgs.dockerTools.streamLayeredImage {
          name = "eva-kernel";
          tag = "latest";
          contents = [
            (packageFor pkgs system)
            pkgs.bashInteractive
            pkgs.coreutils
            pkgs.curl
            pkgs.dockerTools.caCertificates
          ];
          fakeRootCommands = ''
            mkdir -p -m 1777 ./tmp
            mkdir -p ./config ./data
            chown 10001:10001 ./data
          '';
          config = {
            Entrypoint = [ "/bin/eva-kernel" ];
            Cmd = [
              "serve"
              "--config"
              "/config/config.yaml"
            ];
            # The environment wins over files, so a configuration that was made for the host works here too.
            Env = [
              "EVA_SERVER__LISTEN=0.0.0.0:8080"
              "EVA_DB__PATH=/data/eva.db"
              "HOME=/data"
            ];
            ExposedPorts."8080/tcp" = { };
            Volumes."/data" = { };
            User = "10001:10001";
            WorkingDir = "/data";
          };
        };
    in
    {
      packages = eachSystem (
        pkgs: system:
        {
          default = packageFor pkgs system;
          docs = docsFor pkgs system;
          bun = bunFor pkgs system;
        }
        // nixpkgs.lib.optionalAttrs pkgs.stdenv.hostPlatform.isLinux {
          dockerImage = dockerImageFor pkgs system;
        }
      );

      nixosModules.default = import ./packaging/nix/module.nix (
        pkgs: self.packages.${pkgs.stdenv.hostPlatform.system}.default
      );

      devShells = eachSystem (
        pkgs: system: {
          default = pkgs.mkShell {
            packages = [
              (bunFor pkgs system)
              pkgs.nodejs
            ]
            ++ pkgs.lib.optional pkgs.stdenv.hostPlatform.isLinux pkgs.chromium;
          };
        }
      );

      formatter = eachSystem (pkgs: _: pkgs.nixfmt-rfc-style);
    };
}
