import { bringUp, type Stage } from './cluster.ts';
import { imageValuesFile } from './images.ts';
import { describeLab } from './lab.ts';

const stage: Stage = async (name, work) => {
  const start = performance.now();
  const result = await work();
  console.log(`${((performance.now() - start) / 1000).toFixed(1).padStart(7)} s  ${name}`);
  return result;
};

try {
  if (process.getuid?.() !== 0)
    throw new Error('network namespaces and containers need root: sudo make cluster');
  const lab = describeLab(process.env);
  await stage('in all', () => bringUp(lab, stage));
  console.log('Install Parley on it:');
  console.log(
    `  infra/cluster/lab helm install parley charts/parley -f infra/cluster/values.yaml -f ${imageValuesFile(lab)} --wait`,
  );
} catch (error) {
  console.error(`make cluster: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
