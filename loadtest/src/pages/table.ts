/** The figures as the documentation shows them, and whether they are what was aimed at. */
import { digits } from '../columns.ts';
import { percentileOf } from '../statistics.ts';
import type { Holders } from './holders.ts';
import type { Swarm } from './swarm.ts';

/** The original took so much of its server for each visitor. */
export const ORIGINAL_KB = 380;

export function swarmTable({
  bytes,
  readers,
  aloneMs,
  hereMs,
  cores,
  copies,
  copiesByReaders,
  wrong,
}: Swarm): string {
  const seconds = (share: number): string => digits(percentileOf(hereMs, share) / 1000);
  return [
    `| ${mebibytes(bytes)} to ${readers} at once | |`,
    '| --- | --- |',
    `| one alone had it after | ${digits(aloneMs / 1000)} s |`,
    `| of all, the first, the median, the last had it after | ${seconds(0)}, ${seconds(0.5)}, ${seconds(1)} s |`,
    `| given by the first holder | ${digits(copies)} copies, where a star gives ${readers} |`,
    `| given by readers | ${digits(copiesByReaders)} copies |`,
    `| cores in use meanwhile | ${digits(cores)} |`,
    ...(wrong === undefined ? [] : [`| FAILED | ${wrong} |`]),
  ].join('\n');
}

export function holdersTable(holders: Holders): string {
  const { visitors, perSecond, messagesPerVisitor, bytesPerVisitor, messagesNaively, exactMs, wrong } =
    holders;
  return [
    `| ${visitors} holders of one page, ${perSecond} a second | |`,
    '| --- | --- |',
    `| memory for each, both pods | ${digits(kbPerVisitor(holders))} KB (the original: ${ORIGINAL_KB}) |`,
    `| messages to each | ${digits(messagesPerVisitor)} (one for each arrival: ${digits(messagesNaively)}) |`,
    `| bytes to each | ${digits(bytesPerVisitor)} |`,
    `| count exact after the last came | ${digits(exactMs[0])} ms |`,
    `| after half had left at once | ${digits(exactMs[1])} ms |`,
    ...(wrong === undefined ? [] : [`| FAILED | ${wrong} |`]),
  ].join('\n');
}

export const kbPerVisitor = ({ idleKb, fullKb, visitors }: Holders): number => (fullKb - idleKb) / visitors;

/** What is not as it must be, however many there are. */
export function inexact(swarms: readonly Swarm[], holders: Holders | undefined): string | undefined {
  return [...swarms, holders].find((one) => one?.wrong !== undefined)?.wrong;
}

/** Why this is not what was aimed at; `undefined` where it is. */
export function missed(swarms: readonly Swarm[], holders: Holders | undefined): string | undefined {
  const wrong = inexact(swarms, holders);
  if (wrong !== undefined) return wrong;
  if (swarms.some(({ copies, readers }) => copies > readers / 2)) return 'a star, not a swarm';
  if (holders === undefined) return undefined;
  if (holders.messagesPerVisitor > holders.messagesNaively / 2) return 'a message for each arrival';
  return kbPerVisitor(holders) > ORIGINAL_KB ? 'more memory for a visitor than the original' : undefined;
}

export const mebibytes = (bytes: number): string => `${digits(bytes / 1024 / 1024)} MiB`;
