# The exporter, its locked dependencies, and Python on Debian: nothing that installs or compiles. docs/container.md says how
# to build and run it.

# Exact, so that nothing changes unseen. A digest or a mirror may be named instead: --build-arg BASE=...
ARG BASE=python:3.13.15-slim-trixie


# The environment of the exporter: wheels alone, and only those that are locked.
FROM ${BASE} AS environment
WORKDIR /src
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore
COPY requirements/run.txt requirements/build.txt requirements/
RUN python -m venv --without-pip /opt/canton-exporter \
 && pip --python /opt/canton-exporter/bin/python install --require-hashes --only-binary :all: -r requirements/run.txt \
 && pip install --require-hashes --only-binary :all: -r requirements/build.txt
COPY pyproject.toml README.md LICENSE ./
COPY exporter exporter
RUN pip wheel --no-deps --no-build-isolation --wheel-dir dist . \
 && pip --python /opt/canton-exporter/bin/python install --no-deps --no-index dist/*.whl
# What pip writes down itself when it installs a commit: canton_exporter_build_info says it as its revision.
ARG REVISION=unknown
RUN printf '{"url": "https://github.com/canton-exporter/canton-exporter", "vcs_info": {"vcs": "git", "commit_id": "%s"}}\n' \
    "${REVISION}" > direct_url.json \
 && cp direct_url.json /opt/canton-exporter/lib/python3.*/site-packages/canton_exporter-*.dist-info/
# Byte code as pip writes it is good only while a file keeps its time, which a builder may set; unchecked it stays good.
RUN python -B -m compileall -q -f --invalidation-mode unchecked-hash /opt/canton-exporter/lib


# The base without what installs, compiles or needs a screen, and without what lets a user become another. It has no byte code
# of Python's own library, and a file system that is only read keeps none: each start would compile it anew.
FROM ${BASE} AS root
WORKDIR /usr/local
RUN rm -rf include share/man lib/pkgconfig bin/idle* bin/pip* bin/pydoc* bin/python*-config \
    lib/python3.*/config-* lib/python3.*/ensurepip lib/python3.*/site-packages/* \
    lib/python3.*/idlelib lib/python3.*/tkinter lib/python3.*/turtle* lib/python3.*/lib-dynload/_tkinter* \
 && find / -xdev -type f -perm /6000 -exec chmod a-s {} + \
 && echo 'canton-exporter:x:65532:65532::/nonexistent:/usr/sbin/nologin' >> /etc/passwd \
 && echo 'canton-exporter:x:65532:' >> /etc/group \
 && mkdir /etc/canton-exporter \
 && python -B -m compileall -q -f --invalidation-mode unchecked-hash lib/python3.* \
 && ! python -B -m pip --version


# Copied whole rather than built upon: what is removed in a layer above stays in the one below.
FROM scratch
# hadolint ignore=DL3067
COPY --from=root / /
COPY --from=environment /opt/canton-exporter /opt/canton-exporter
# So that `docker exec NAME canton-exporter probe TARGET` finds it.
ENV PATH=/opt/canton-exporter/bin:/usr/local/bin:/usr/bin:/bin
# Where exporter.yaml is looked for.
WORKDIR /etc/canton-exporter
# A number, since Kubernetes takes no name's word for not being root. Any other will do: nothing is written.
USER 65532:65532
EXPOSE 10066
# Either ends the exporter in good order, within 5 seconds. But the first process of a container is deaf to SIGTERM until Python
# has read our code; to SIGINT it listens from the start.
STOPSIGNAL SIGINT
# As a process of its own it knows the environment, and no flag given to the exporter.
HEALTHCHECK --interval=30s --timeout=10s --start-period=10s CMD ["/opt/canton-exporter/bin/canton-exporter", "health"]
ENTRYPOINT ["/opt/canton-exporter/bin/canton-exporter"]

ARG BASE
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="canton-exporter" \
      org.opencontainers.image.description="A Prometheus exporter for the nodes of a Canton Network: participants, validators and scans" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.source="https://github.com/canton-exporter/canton-exporter" \
      org.opencontainers.image.documentation="https://github.com/canton-exporter/canton-exporter/blob/main/docs/container.md" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.base.name="${BASE}"
