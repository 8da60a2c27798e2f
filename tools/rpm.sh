# shellcheck shell=bash
# ./dev package rpm: builds the RPM package for this machine's PostgreSQL, to check the spec file. Part of ./dev, which
# defines the functions and variables used here.
# shellcheck disable=SC2154

# package_rpm: the package has the folders of PostgreSQL's yum repository, so this machine's PostgreSQL cannot use it.
package_rpm() {
    find_postgres
    need git rpm rpmlint
    make_work
    local top=$work/rpm prefix=/usr/pgsql-$pg_version version
    version=$(meta version | head -n 1)
    mkdir -p "$top/SOURCES"
    git archive --prefix="snowdrift-$version/" -o "$top/SOURCES/snowdrift-$version.tar.gz" HEAD
    export HOME=$work  # for rpm's database
    cat >"$work/pg_config" <<SH
#!/bin/sh
case \$1 in
--pkglibdir) echo $prefix/lib ;;
--sharedir) echo $prefix/share ;;
*) exec $PG_CONFIG "\$@" ;;
esac
SH
    chmod +x "$work/pg_config"
    quietly "Building the RPM package for PostgreSQL $pg_version" rpmbuild -bb --nodeps packaging/rpm/snowdrift.spec \
        --define "_topdir $top" --define "pgmajorversion $pg_version" --define "pginstdir $prefix" \
        --define "pg_config $work/pg_config"
    rpmlint --strict --config packaging/rpm/rpmlint.toml packaging/rpm/snowdrift.spec "$top"/RPMS/*/*.rpm
}
