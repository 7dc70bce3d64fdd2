# The exporter, its locked dependencies and Python: no pip, no compiler, no shell needed to run it.
ARG PYTHON=3.13

FROM python:${PYTHON}-slim AS build
WORKDIR /src
RUN python -m venv --without-pip /opt/canton-exporter
COPY requirements/run.txt requirements/run.txt
RUN pip --python /opt/canton-exporter/bin/python install --no-cache-dir --require-hashes --only-binary :all: -r requirements/run.txt
COPY pyproject.toml README.md LICENSE ./
COPY exporter exporter
RUN pip --python /opt/canton-exporter/bin/python install --no-cache-dir --no-deps .

FROM python:${PYTHON}-slim
COPY --from=build /opt/canton-exporter /opt/canton-exporter
USER 65532:65532
EXPOSE 10066
# As a process of its own it knows the environment, and no flag given to the exporter.
HEALTHCHECK --interval=30s --timeout=10s --start-period=10s CMD ["/opt/canton-exporter/bin/canton-exporter", "health"]
ENTRYPOINT ["/opt/canton-exporter/bin/canton-exporter"]
