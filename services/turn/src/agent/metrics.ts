/** What a node tells Prometheus. */
export interface State {
  readonly allocations: number;
  readonly ports: number;
  readonly isDraining: boolean;
  readonly answers: boolean;
  readonly isLeaseHeld: boolean;
}

export function metricsText(state: State): string {
  const { allocations, ports, isDraining, answers, isLeaseHeld } = state;
  const gauges: readonly (readonly [name: string, help: string, value: number])[] = [
    ['parley_turn_allocations', 'Relay ports in use', allocations],
    ['parley_turn_ports', 'Relay ports there are', ports],
    ['parley_turn_draining', '1 while the node waits for its allocations to end', Number(isDraining)],
    ['parley_turn_answers', '1 while coturn answers STUN', Number(answers)],
    ['parley_turn_lease_held', '1 while signaling is told of this node', Number(isLeaseHeld)],
  ];
  return gauges
    .map(([name, help, value]) => `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${name} ${value}\n`)
    .join('');
}
