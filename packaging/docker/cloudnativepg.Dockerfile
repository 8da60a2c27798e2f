# syntax=docker/dockerfile:1
# An image volume for CloudNativePG, which adds its folders to extension_control_path and dynamic_library_path of
# PostgreSQL 18 and later. Build the package first, then the image, in the root of the checkout:
#   ./dev package deb 18
#   docker build --build-arg PG_MAJOR=18 -f packaging/docker/cloudnativepg.Dockerfile -t snowdrift:18-volume .
ARG PG_MAJOR=18
FROM postgres:${PG_MAJOR} AS package
ARG PG_MAJOR
ARG TARGETARCH
RUN --mount=type=bind,source=build/packages/${PG_MAJOR},target=/packages \
    dpkg-deb --extract /packages/postgresql-${PG_MAJOR}-snowdrift_*_${TARGETARCH}.deb /package

FROM scratch
ARG PG_MAJOR
COPY --from=package /package/usr/share/doc/postgresql-${PG_MAJOR}-snowdrift/copyright /licenses/snowdrift/
COPY --from=package /package/usr/lib/postgresql/${PG_MAJOR}/lib/ /lib/
COPY --from=package /package/usr/share/postgresql/${PG_MAJOR}/extension/ /share/extension/
USER 65532:65532
