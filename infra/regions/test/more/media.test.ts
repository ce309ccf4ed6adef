import { test } from 'node:test';
import { mediaOutlivesCut, mediaOutlivesGateways, mediaTakesDetour } from '../support/broadcast.ts';
import { lab } from '../support/lab.ts';

const regions = lab();

test('[MEDIA-7] [MEDIA-20] [MEDIA-23] FAULT=media: a region is cut off for 45 s, and no media session ends', (t) =>
  mediaOutlivesCut(t, regions(), 45_000));

test('[MEDIA-19] FAULT=media: media of two regions that are cut off from each other goes over the third', (t) =>
  mediaTakesDetour(t, regions()));

test('[MEDIA-20] FAULT=media: the gateways of a region are killed, and its media goes on everywhere', (t) =>
  mediaOutlivesGateways(t, regions(), 15_000));
