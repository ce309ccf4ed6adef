/** Which values templates use, and which of these are nowhere described. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Value } from './values.ts';

export interface Drift {
  /** Described, but no template uses it. */
  readonly unused: readonly string[];
  /** Used, but nowhere described. */
  readonly undescribed: readonly string[];
}

/** A use by its whole path. */
const WHOLE = /\.Values((?:\.[a-zA-Z]\w*)+)/g;
/** A use by a template helper that gets a component: it uses that value of every component that has it. */
const OF_COMPONENT = /\$section((?:\.[a-zA-Z]\w*)+)/g;

const COMPONENTS = ['signaling', 'relay', 'turn', 'nats', 'nats.gateways', 'edge', 'web', 'doctor'];
/** What an operator states. Only requirements.yaml asks for it. */
const STATEMENTS = new Set(['edge.guardedElsewhere']);
/** Of which helpers use a part at a time. */
const IMAGE = /\$image\.(\w+)/g;

export function driftOf(values: readonly Value[], templates: readonly string[]): Drift {
  const text = templates
    .map((template) => template.replaceAll(/\{\{-? ?\/\*[\s\S]*?\*\/ ?-?\}\}/g, ''))
    .join('\n');
  const paths = values.map(({ path }) => path).filter((path) => !STATEMENTS.has(path));
  const whole = [...text.matchAll(WHOLE)].map(([, path = '']) => path.slice(1));
  const ofComponents = [
    ...[...text.matchAll(OF_COMPONENT)].map(([, path = '']) => path.slice(1)),
    ...[...text.matchAll(IMAGE)].map(([, part = '']) => `image.${part}`),
  ];
  const expanded = ofComponents.flatMap((path) => COMPONENTS.map((component) => `${component}.${path}`));
  const used = [...whole, ...expanded];
  return {
    unused: paths.filter((path) => !used.some((use) => isWithin(use, path))),
    undescribed: [
      ...whole.filter((use) => !isDescribed(use, paths)),
      ...ofComponents.filter((use) => !COMPONENTS.some((one) => isDescribed(`${one}.${use}`, paths))),
    ],
  };
}

/** A value is used by itself, or by a part of it if it is an object. */
function isWithin(use: string, path: string): boolean {
  return use === path || use.startsWith(`${path}.`);
}

function isDescribed(use: string, paths: readonly string[]): boolean {
  return paths.some((path) => isWithin(use, path) || path.startsWith(`${use}.`));
}

/** All but the one that only refuses: a value that is checked and then forgotten is unused. */
export function readTemplates(folder = 'charts/parley/templates'): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'requirements.yaml')
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
}
