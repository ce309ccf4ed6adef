import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { test } from 'node:test';

const machineAfter = (steps: string): { cores: number; pinned: boolean } => {
  const program = `
    import { execFileSync } from 'node:child_process';
    import { describeMachine, onCore } from ${JSON.stringify(new URL('../src/machine.ts', import.meta.url))};
    const machine = describeMachine();
    ${steps}
    console.log(JSON.stringify(machine));`;
  const said = execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
  return JSON.parse(said) as { cores: number; pinned: boolean };
};

test(
  'a report says that processes were kept to a core where they were, and only there',
  {
    skip: availableParallelism() < 2 && 'there is only one core',
  },
  () => {
    assert.equal(machineAfter('').pinned, false);
    assert.equal(machineAfter("onCore(0, ['a-server']);").pinned, true);
    const itself = machineAfter(
      "execFileSync('taskset', ['-apc', '1', String(process.pid)], { stdio: 'ignore' });",
    );
    assert.deepEqual(itself, { ...machineAfter(''), pinned: true });
  },
);
