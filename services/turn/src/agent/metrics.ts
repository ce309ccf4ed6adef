/** The state that a node exports to Prometheus. */
export interface State {
  readonly allocations: number;
  readonly capacity: number;
  readonly networkQuota: number;
  readonly isDraining: boolean;
  readonly answers: boolean;
  readonly isLeaseHeld: boolean;
  readonly suppressedLines: number;
}

export function metricsText(state: State): string {
  const { allocations, capacity, networkQuota, isDraining, answers, isLeaseHeld, suppressedLines } = state;
  const metrics: readonly (readonly [name: string, help: string, value: number])[] = [
    ['parley_turn_allocations', 'Relay ports in use', allocations],
    ['parley_turn_ports', 'Relay ports that may be in use', capacity],
    ['parley_turn_network_quota', 'Relay ports that one client network may use', networkQuota],
    ['parley_turn_draining', '1 while the node waits for its allocations to end', Number(isDraining)],
    ['parley_turn_coturn_up', '1 while coturn answers STUN', Number(answers)],
    ['parley_turn_lease_held', '1 while signaling is told of this node', Number(isLeaseHeld)],
    ['parley_turn_log_lines_suppressed_total', "Lines of coturn's log over its budget", suppressedLines],
  ];
  return metrics.map(text).join('');
}

function text([name, help, value]: readonly [name: string, help: string, value: number]): string {
  const type = name.endsWith('_total') ? 'counter' : 'gauge';
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${name} ${value}\n`;
}
