FROM docker.io/library/debian:bookworm-slim
COPY bin/node /usr/local/bin/node
COPY lib/node_modules/npm /usr/local/lib/node_modules/npm
RUN chmod 755 /usr/local/lib/node_modules/npm/bin/npm-cli.js && \
    ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm && useradd --create-home --uid 1000 node
ENV NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt
CMD ["node"]
