FROM docker.io/library/debian:bookworm-slim
# Debian's, which is older than the project's own: services/turn uses only what both know.
RUN apt-get update && apt-get install -y --no-install-recommends coturn && rm -rf /var/lib/apt/lists/*
USER nobody
ENTRYPOINT ["turnserver"]
