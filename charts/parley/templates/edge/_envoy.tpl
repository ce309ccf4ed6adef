{{/* The edge's configuration: files/envoy.yaml, which the stack on one machine uses too, and what only a cluster has. */}}

{{/* Envoy's lb_endpoints: a name that DNS resolves to all pods. (dict "root" $ "service" … "port" … "health" another port) */}}
{{- define "parley.endpoints" -}}
{{- $address := dict "address" (include "parley.dns" .) "port_value" (int .port) -}}
{{- $endpoint := dict "address" (dict "socket_address" $address) -}}
{{- if .health -}}
{{- $_ := set $endpoint "health_check_config" (dict "port_value" (int .health)) -}}
{{- end -}}
{{- list (dict "endpoint" $endpoint) | toJson -}}
{{- end -}}

{{- define "parley.envoyConf" -}}
{{- $turns := and .Values.turn.enabled .Values.turn.tls443.enabled -}}
{{- include "parley.fill" (dict "text" (.Files.Get "files/envoy.yaml" | trimSuffix "\n") "values" (dict
  "ADMIN_PORT" 9901
  "MAX_CONNECTIONS" (int .Values.edge.connections.max)
  "MAX_HEAP_BYTES" (include "parley.envoyHeapBytes" .)
  "IDLE_TIMEOUT" (int .Values.edge.connections.idleSeconds)
  "FIRST_BYTES" (int .Values.edge.connections.firstBytesSeconds)
  "KEEP_ALIVE" (int .Values.edge.connections.keepAliveSeconds)
  "UNANSWERED" (int .Values.edge.connections.unansweredSeconds)
  "LOG_BUDGET_FILE" "/etc/envoy/log-budget.yaml"
  "LISTEN_ADDRESS" (include "parley.envoyAddress" .)
  "IPV4_COMPAT" (has "IPv6" .Values.ipFamilies)
  "DNS_FAMILY" (include "parley.envoyDnsFamily" .)
  "HTTP_PORT" 8080
  "HTTPS_PORT" 8443
  "TRUSTED_HOPS" (int .Values.edge.trustedHops)
  "REQUIRE_TLS" (.Values.edge.redirectToHttps | ternary "ALL" "NONE")
  "HSTS_MAX_AGE" (int .Values.edge.hstsMaxAge)
  "JOIN_BURST" (int .Values.edge.joinLimits.burst)
  "JOIN_PER_SECOND" (int .Values.edge.joinLimits.perSecond)
  "ADDRESS_JOINS_BURST" (int .Values.edge.addressLimits.joins.burst)
  "ADDRESS_JOINS_PER_SECOND" (int .Values.edge.addressLimits.joins.perSecond)
  "ADDRESS_SOCKETS_BURST" (int .Values.edge.addressLimits.sockets.burst)
  "ADDRESS_SOCKETS_PER_SECOND" (int .Values.edge.addressLimits.sockets.perSecond)
  "ADDRESS_API_BURST" (int .Values.edge.addressLimits.api.burst)
  "ADDRESS_API_PER_SECOND" (int .Values.edge.addressLimits.api.perSecond)
  "ADDRESS_STREAMS_BURST" (int .Values.edge.addressLimits.streams.burst)
  "ADDRESS_STREAMS_PER_SECOND" (int .Values.edge.addressLimits.streams.perSecond)
  "ADDRESS_MEDIA_BURST" (int .Values.edge.addressLimits.media.burst)
  "ADDRESS_MEDIA_PER_SECOND" (int .Values.edge.addressLimits.media.perSecond)
  "ADDRESS_WEB_BURST" (int .Values.edge.addressLimits.web.burst)
  "ADDRESS_WEB_PER_SECOND" (int .Values.edge.addressLimits.web.perSecond)
  "TLS_CERTIFICATES" (include "parley.envoyCertificates" .)
  "HTTPS_FILTER_CHAINS" ($turns | ternary (include "parley.envoyTurnsChain" .) "")
  "LISTENERS" (include "parley.envoyListeners" .)
  "CLUSTERS" (include "parley.envoyClusters" .)
  "SIGNALING_ENDPOINTS" (include "parley.endpoints" (dict "root" . "service" "signaling" "port" 8101))
  "RELAY_ENDPOINTS" (include "parley.endpoints" (dict "root" . "service" "relay" "port" 8111 "health" 8113))
  "MEDIA_ENDPOINTS" (include "parley.endpoints" (dict "root" . "service" "relay" "port" 8151 "health" 8113))
  "WEB_ENDPOINTS" (include "parley.endpoints" (dict "root" . "service" "web" "port" 8090))
)) -}}
{{- end -}}

{{/* Without brackets, which are those of URLs. */}}
{{- define "parley.envoyAddress" -}}
{{- include "parley.anyAddress" . | trimAll "[]" -}}
{{- end -}}

{{/*
The family of the pods' addresses that Envoy takes: the first one of Services. A pod with two addresses must not be two hosts, and rooms are
hashed over the same addresses by every Envoy, also where one answer of DNS is lost.
*/}}
{{- define "parley.envoyDnsFamily" -}}
{{- get (dict "IPv4" "V4_ONLY" "IPv6" "V6_ONLY") (first .Values.ipFamilies | toString) | default "AUTO" -}}
{{- end -}}

{{/* Three quarters of the memory limit, in bytes: what the kernel buffers for its connections counts against the limit as well. */}}
{{- define "parley.envoyHeapBytes" -}}
{{- $limit := include "parley.bytes" .Values.edge.resources.limits.memory | int64 -}}
{{- div (mul 3 $limit) 4 -}}
{{- end -}}

{{/* As many workers as the Envoy may use cores: 1 for 200m and for no CPU at all, 2 for 1500m. */}}
{{- define "parley.envoyConcurrency" -}}
{{- $resources := .Values.edge.resources -}}
{{- $cpu := dig "limits" "cpu" (dig "requests" "cpu" 1 $resources) $resources | toString -}}
{{- $cores := ternary (divf (trimSuffix "m" $cpu) 1000) (float64 $cpu) (hasSuffix "m" $cpu) -}}
{{- int .Values.edge.concurrency | default (max 1 (ceil $cores | int)) -}}
{{- end -}}

{{/* How many lines the access log may have: files/log-budget.yaml. */}}
{{- define "parley.envoyLogBudget" -}}
{{- include "parley.fill" (dict "text" (.Files.Get "files/log-budget.yaml" | trimSuffix "\n") "values" (dict
  "LOG_LINES_BURST" (int .Values.edge.accessLog.burst)
  "LOG_LINES_PER_SECOND" (int .Values.edge.accessLog.perSecond)
)) -}}
{{- end -}}

{{/* The cap on open connections of one source, which the kernel keeps for Envoy. */}}
{{- define "parley.edgeConnections" -}}
{{- include "parley.fill" (dict "text" (.Files.Get "files/edge-connections.nft" | trimSuffix "\n") "values" (dict
  "PER_SOURCE" (int .Values.edge.connections.perSource)
  "PORTS" "8080, 8443"
)) -}}
{{- end -}}

{{/* By a file of its own that names the certificate's: only then is a renewed one read again. */}}
{{- define "parley.envoyCertificates" -}}
tls_certificate_sds_secret_configs: [{ name: edge, sds_config: { path_config_source: { path: /etc/envoy/certificate.yaml } } }]
{{- end -}}

{{- define "parley.envoyCertificate" -}}
resources:
  - '@type': type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret
    name: edge
    tls_certificate:
      certificate_chain: { filename: /etc/envoy/tls/tls.crt }
      private_key: { filename: /etc/envoy/tls/tls.key }
      watched_directory: { path: /etc/envoy/tls }
{{- end -}}

{{/* turns: on the port of https. TLS ends here, so that one certificate serves both; what is inside is TURN over TCP. */}}
{{- define "parley.envoyTurnsChain" }}
        # turns: by the name of the TURN nodes; everything else on this port is https.
        - filter_chain_match: { server_names: [{{ .Values.turn.host | quote }}] }
          transport_socket:
            name: envoy.transport_sockets.tls
            typed_config:
              '@type': type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext
              common_tls_context:
                tls_params: { tls_minimum_protocol_version: TLSv1_2 }
                {{ include "parley.envoyCertificates" . }}
          transport_socket_connect_timeout: 5s
          filters:
            # What is inside has no request to wait for, so a quiet connection stays long: half of them are left for https.
            - name: envoy.filters.network.connection_limit
              typed_config:
                '@type': type.googleapis.com/envoy.extensions.filters.network.connection_limit.v3.ConnectionLimit
                stat_prefix: edge_turns
                max_connections: {{ div (int .Values.edge.connections.max) 2 }}
            - name: envoy.filters.network.tcp_proxy
              typed_config:
                '@type': type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy
                stat_prefix: edge_turns
                cluster: turn
                # coturn ends an allocation that was not refreshed for 600 s (max-allocate-lifetime), and a connection without
                # one after 60 s: a connection that is quiet for longer than the former carries nothing.
                idle_timeout: 600s
                max_connect_attempts: 3
{{- end -}}

{{/* Readiness and metrics, on a port that no Service leads to. */}}
{{- define "parley.envoyListeners" }}
    - name: operations
      address: { socket_address: { address: '{{ include "parley.envoyAddress" . }}', port_value: 9902, ipv4_compat: {{ has "IPv6" .Values.ipFamilies }} } }
      # People's connections do not count here, nor does their limit.
      ignore_global_conn_limit: true
      bypass_overload_manager: true
      filter_chains:
        - filters:
            - name: envoy.filters.network.connection_limit
              typed_config:
                '@type': type.googleapis.com/envoy.extensions.filters.network.connection_limit.v3.ConnectionLimit
                stat_prefix: operations
                max_connections: 256
            - name: envoy.filters.network.http_connection_manager
              typed_config:
                '@type': type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
                stat_prefix: operations
                request_headers_timeout: 5s
                request_timeout: 15s
                common_http_protocol_options: { idle_timeout: 60s }
                http_filters:
                  - name: envoy.filters.http.router
                    typed_config:
                      '@type': type.googleapis.com/envoy.extensions.filters.http.router.v3.Router
                route_config:
                  virtual_hosts:
                    - name: operations
                      domains: ['*']
                      routes:
                        - match: { path: /ready }
                          route: { cluster: admin }
                        - match: { path: /stats/prometheus }
                          route: { cluster: admin }
{{- end -}}

{{- define "parley.envoyClusters" }}
    - name: admin
      type: STATIC
      load_assignment:
        cluster_name: admin
        endpoints:
          - lb_endpoints: [{ endpoint: { address: { socket_address: { address: 127.0.0.1, port_value: 9901 } } } }]
{{- if and .Values.turn.enabled .Values.turn.tls443.enabled }}

    # TURN nodes, at TURN over TCP; their health is the agent's.
    - name: turn
      type: STRICT_DNS
      dns_lookup_family: {{ include "parley.envoyDnsFamily" . }}
      connect_timeout: 1s
      lb_policy: LEAST_REQUEST
      common_lb_config:
        healthy_panic_threshold: { value: 0 }
        ignore_new_hosts_until_first_hc: true
      ignore_health_on_host_removal: true
      health_checks:
        - timeout: 1s
          interval: 1s
          no_traffic_interval: 1s
          unhealthy_threshold: 2
          healthy_threshold: 1
          http_health_check: { path: /readyz }
      circuit_breakers:
        thresholds: [{ max_connections: {{ int .Values.edge.connections.max }} }]
      load_assignment:
        cluster_name: turn
        endpoints: [{ lb_endpoints: {{ include "parley.endpoints" (dict "root" . "service" "turn" "port" .Values.turn.ports.listen "health" .Values.turn.ports.health) }} }]
{{- end }}
{{- end -}}
