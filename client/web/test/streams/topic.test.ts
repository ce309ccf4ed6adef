import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPage } from '../../src/route.ts';
import {
  subscriberTopic,
  isStreamsIndex,
  publisherTopic,
  streamPath,
  topicOfPath,
  topicOfText,
} from '../../src/streams/topic.ts';

test('[STR-1] [STR-4] a path is decoded once into its topic, and a topic has one path', () => {
  const same: readonly (readonly [string, string])[] = [
    ['/streams/cam', 'cam'],
    ['/streams/out/lab/cam', 'out/lab/cam'],
    ['/streams/lab%2Fcam', 'lab/cam'],
    ['/streams/caf%C3%A9%20%3F', 'café ?'],
    ['/streams/a%252e', 'a%2e'],
    ['/streams/cam/', 'cam'],
  ];
  for (const [path, topic] of same) {
    assert.equal(topicOfPath(path), topic);
    assert.equal(topicOfPath(streamPath(topic)), topic);
  }
});

test('[STR-4] [STR-5] a topic that the relay refuses is refused here', () => {
  const refused = [
    ['', '/', 'a//b', '.', '..', 'a/../b', 'a/%2e%2e/b', 'a%5Cb', 'a%00b', 'a%0Ab', '%', '%ff', 'in', 'out'],
    ['stats', 'STATS/x', 'ws', 'metrics', 'v1/codes/x', 'streams/x', '.well-known/x', 'x'.repeat(512)],
  ].flat();
  for (const topic of refused) assert.equal(topicOfPath(`/streams/${topic}`), undefined, topic);
  assert.equal(topicOfPath(`/streams/${'x'.repeat(511)}`)?.length, 511);
});

test('every address under /streams is a page, and no other address is', () => {
  for (const path of ['/streams', '/streams/', '/streams/out/cam', '/streams/stats'])
    assert.ok(isPage(path), path);
  for (const path of ['/stream', '/streamsx', '/x/streams']) assert.ok(!isPage(path), path);
  assert.ok(isStreamsIndex('/streams') && isStreamsIndex('/streams/') && !isStreamsIndex('/streams/cam'));
});

test('pasted text is recognised: links of any scheme, paths, names', () => {
  for (const text of [
    'out/cam',
    ' /out/cam/ ',
    'https://lab.example/streams/out/cam',
    'wss://lab.example:8443/streams/out/cam?code=x#token=y',
  ])
    assert.equal(topicOfText(text), 'out/cam', text);
  for (const text of ['', 'a//b', 'https://lab.example/streams/stats'])
    assert.equal(topicOfText(text), undefined, text);
});

test('[STR-2] data sent to in/ arrives at out/, and any other topic is both', () => {
  assert.equal(subscriberTopic('in/cam'), 'out/cam');
  assert.equal(publisherTopic('out/cam'), 'in/cam');
  for (const topic of ['cam', 'lab/in/cam', 'inside']) {
    assert.equal(subscriberTopic(topic), topic);
    assert.equal(publisherTopic(topic), topic);
  }
});
