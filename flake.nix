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
      modulesHash = "sha256-Vrng/DAxP2qLs0IkvNHO2MaJZDbWfRxRqTuCCq4tDDg=";

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
          nativeBuildInputs = [ bun ];
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
    in
    {
      packages = eachSystem (
        pkgs: system: {
          default = packageFor pkgs system;
          bun = bunFor pkgs system;
        }
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
