/** What operators see of a call over a bad link: two browsers from end to end, with a round trip of 90 ms and one packet in twenty lost each way. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';
import { launchChromium } from '../../support/browsers.ts';
import { startLabSite } from '../../support/lab-site.ts';
import { opened } from '../../support/opened.ts';
import { until } from '../../support/until.ts';
import { newRoom, Visitor } from '../../support/visitor.ts';
import { startWanLab, type WanHome, type WanLab } from '../../support/wan-lab.ts';

const execute = promisify(execFile);
/** All participants report, every three seconds. */
const ENV = { PARLEY_LIMIT_QUALITY_PERCENT: '100', PARLEY_LIMIT_QUALITY_INTERVAL: '3000' };
const BAD = { delayMs: 45, loss: 0.05 };
const GOOD = { delayMs: 5, loss: 0 };
/** The promise. */
const SHOWN_WITHIN_MS = 60_000;
/** Of both participants. */
const REPORTS = 6;
const PODS = [8101, 8102];

describe('quality of calls', { timeout: 240_000 }, () => {
  const world = opened(async (keep) => {
    const lab = keep(await startWanLab(BAD));
    const site = keep(await startLabSite(lab, ENV));
    const browserIn = async (home: WanHome): Promise<Browser> =>
      keep(await launchChromium({ executable: lab.chromiumIn(home), args: ['--ignore-certificate-errors'] }));
    return { lab, web: site.web, near: await browserIn('near'), far: await browserIn('far') };
  });

  it('[QUAL-1] [QUAL-2] [QUAL-4] a bad link shows in score, loss and round trip within a minute, and so does a repaired one in the last two', async (t) => {
    const { lab, web, near, far } = world();
    const room = newRoom();
    await Promise.all([
      Visitor.join(near, { name: 'Ada', web, room }),
      Visitor.join(far, { name: 'Bo', web, room }),
    ]);
    const bad = await reported(lab);
    t.diagnostic(JSON.stringify(bad));
    assert.ok(bad.loss > 0.02 && bad.loss < 0.1, `${bad.loss} lost`);
    assert.ok(bad.roundTrip > 0.08 && bad.roundTrip < 0.5, `${bad.roundTrip} s`);
    // G.107: 5 % of loss alone take it to 3.9, and a busy machine's buffers further.
    assert.ok(bad.mos > 1 && bad.mos < 4.2, `${bad.mos}`);

    lab.set(GOOD);
    let good = bad;
    // The report that is due has something of both.
    const isBetter = async (): Promise<boolean> => {
      good = await reported(lab, await totals(lab), 2);
      return good.loss < 0.01 && good.roundTrip < 0.06;
    };
    await until(isBetter, { withinMs: SHOWN_WITHIN_MS, what: () => `good reports: ${JSON.stringify(good)}` });
    t.diagnostic(JSON.stringify(good));
  });
});

interface Totals {
  readonly reports: number;
  readonly mos: number;
  readonly loss: number;
  readonly roundTrip: number;
  readonly setups: number;
}

const NOTHING: Totals = { reports: 0, mos: 0, loss: 0, roundTrip: 0, setups: 0 };

/** The means of the reports since then, once there are enough. */
async function reported(lab: WanLab, since = NOTHING, least = REPORTS): Promise<Totals> {
  let now = since;
  await until(
    async () => {
      now = await totals(lab);
      const areFirst = since === NOTHING;
      return now.reports - since.reports >= least && (!areFirst || now.setups === 2);
    },
    { withinMs: SHOWN_WITHIN_MS, everyMs: 1000, what: () => `${least} reports: ${JSON.stringify(now)}` },
  );
  const reports = now.reports - since.reports;
  const mean = (of: 'mos' | 'loss' | 'roundTrip'): number => (now[of] - since[of]) / reports;
  return {
    reports,
    mos: mean('mos'),
    loss: mean('loss'),
    roundTrip: mean('roundTrip'),
    setups: now.setups - since.setups,
  };
}

/** Of both pods. The two homes reach each other through TURN alone. */
async function totals({ inSite: [enter = '', ...into] }: WanLab): Promise<Totals> {
  const script = `Promise.all([${PODS.join()}].map(async (port) =>
    (await fetch('http://127.0.0.1:' + port + '/metrics')).text())).then((pages) => console.log(pages.join('')))`;
  const { stdout } = await execute(enter, [...into, process.execPath, '-e', script]);
  const sum = (name: string): number =>
    [...stdout.matchAll(new RegExp(`^parley_call_${name}\\{path="turn"\\} (.*)$`, 'gm'))].reduce(
      (all, [, value]) => all + Number(value),
      0,
    );
  return {
    reports: sum('mos_count'),
    mos: sum('mos_sum'),
    loss: sum('loss_ratio_sum'),
    roundTrip: sum('round_trip_seconds_sum'),
    setups: sum('setup_seconds_count'),
  };
}
