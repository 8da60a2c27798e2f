# syntax=docker/dockerfile:1
# PostgreSQL with Snowdrift, compiled from this checkout, on Debian's image with Debian's packages:
#   docker build . -t snowdrift && docker run --rm snowdrift      # prints the demo
#   docker run --rm -it snowdrift psql                            # opens a prompt
# For a database of your own, use packaging/docker/Dockerfile.
FROM debian:bookworm AS build
RUN apt-get update && apt-get install --yes --no-install-recommends g++ make postgresql-server-dev-15
COPY . /snowdrift
RUN make -C /snowdrift -j "$(nproc)" PG_CONFIG=/usr/lib/postgresql/15/bin/pg_config && make -C /snowdrift install DESTDIR=/package PG_CONFIG=/usr/lib/postgresql/15/bin/pg_config

FROM debian:bookworm
RUN mkdir -p /etc/postgresql-common/createcluster.d && echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.d/snowdrift.conf && apt-get update && apt-get install --yes --no-install-recommends postgresql-15
COPY --from=build /package /
COPY tools/demo.sql packaging/docker/start.sh /snowdrift/
ENV PATH=/usr/lib/postgresql/15/bin:/usr/bin:/bin PGDATA=/var/lib/postgresql/snowdrift LC_ALL=C.UTF-8
USER postgres
RUN initdb --auth=trust && echo "listen_addresses = ''" >>/var/lib/postgresql/snowdrift/postgresql.conf
ENTRYPOINT ["/snowdrift/start.sh"]
CMD ["demo"]
