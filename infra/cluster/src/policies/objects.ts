/** The parts of Kubernetes' objects that network policies are made of. */
export interface Metadata {
  readonly name: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

export interface Namespace {
  readonly metadata: Metadata;
}

export interface Pod {
  readonly metadata: Metadata;
  readonly spec: {
    readonly nodeName?: string;
    readonly hostNetwork?: boolean;
    readonly containers: readonly {
      readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[];
    }[];
  };
  /** One address of each family. */
  readonly status: { readonly podIPs?: readonly { readonly ip: string }[] };
}

export interface Selector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
    readonly values?: readonly string[];
  }[];
}

export interface Peer {
  readonly podSelector?: Selector;
  readonly namespaceSelector?: Selector;
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
}

export interface Port {
  readonly protocol?: 'TCP' | 'UDP' | 'SCTP';
  readonly port?: number | string;
  readonly endPort?: number;
}

export interface NetworkPolicy {
  readonly metadata: Metadata;
  readonly spec: {
    readonly podSelector: Selector;
    readonly policyTypes?: readonly ('Ingress' | 'Egress')[];
    readonly ingress?: readonly { readonly from?: readonly Peer[]; readonly ports?: readonly Port[] }[];
    readonly egress?: readonly { readonly to?: readonly Peer[]; readonly ports?: readonly Port[] }[];
  };
}

export interface Objects {
  readonly policies: readonly NetworkPolicy[];
  readonly pods: readonly Pod[];
  readonly namespaces: readonly Namespace[];
}
