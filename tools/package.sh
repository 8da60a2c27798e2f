# shellcheck shell=bash
# ./dev package: the archive for PGXN and the check of its META.json; debian.sh and rpm.sh have the packages. Part of
# ./dev.

packages=build/packages

cmd_package() {
    local kind=${1:-}
    shift || true
    case $kind in
    deb) package_debs "$@" ;;
    rpm) package_rpm ;;
    pgxn) package_pgxn ;;
    docker) package_docker ;;
    # In a chroot:
    build-deb) build_deb ;;
    try-deb) try_deb ;;
    *) usage >&2; exit 2 ;;
    esac
}

# package_pgxn: the archive that PGXN takes, from the last commit.
package_pgxn() {
    check_meta
    find_postgres
    need git
    mkdir -p "$packages"
    make -s -C "$packages" -f "$PWD/Makefile" dist
    find "$packages" -maxdepth 1 -name '*.zip'
}

# check_meta: fails if META.json does not follow PGXN's specification, or names a file that does not exist.
check_meta() {
    need python3-jsonschema
    /usr/bin/python3 -c 'import json, jsonschema, os, sys
meta, schema = (json.load(open(file)) for file in ("META.json", "tools/pgxn_meta.schema.json"))
errors = [f"{error.json_path}: {error.message}" for error in jsonschema.Draft7Validator(schema).iter_errors(meta)]
errors += [f"{file} does not exist" for extension in meta["provides"].values()
           for file in (extension["file"], extension["docfile"]) if not os.path.isfile(file)]
sys.exit("\n".join(f"META.json: {error}" for error in errors) or None)' || exit 1
}

# meta KEY: prints the values of the key in META.json, above meta-spec.
meta() { sed -nE "/\"meta-spec\"/q; s/^ *\"$1\": \"([^\"]*)\",?$/\1/p" META.json; }
