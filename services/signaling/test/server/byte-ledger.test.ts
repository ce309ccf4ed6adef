import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ByteLedger, type ByteAccount } from '../../src/server/byte-ledger.ts';

/** An account that is closed when the ledger says that it is over, and notes it. */
function opened(ledger: ByteLedger, network: string, name: string, closed: string[]): ByteAccount {
  const account = ledger.open(network, () => {
    closed.push(name);
    account.close();
  });
  return account;
}

describe('[LIM-10] [LIM-11] a ledger of bytes', () => {
  test('adds what is written and takes away what is drained or closed, to the byte', () => {
    const ledger = new ByteLedger({ perNetwork: 1000, perPod: 10_000 });
    const ada = opened(ledger, 'a', 'ada', []);
    const ben = opened(ledger, 'a', 'ben', []);
    const cas = opened(ledger, 'b', 'cas', []);
    ada.set(100);
    ben.set(200);
    cas.set(300);
    ada.set(50);
    assert.deepEqual([ledger.bytes, ledger.bytesOf('a'), ledger.bytesOf('b')], [550, 250, 300]);
    ben.close();
    cas.set(0);
    assert.deepEqual([ledger.bytes, ledger.bytesOf('a'), ledger.bytesOf('b')], [50, 50, 0]);
    ben.set(70);
    assert.equal(ledger.bytes, 50, 'a closed account holds nothing');
    ada.close();
    assert.equal(ledger.bytes, 0);
  });

  test('over the budget of a network its accounts are closed, the largest first, and not the one that grew', () => {
    const closed: string[] = [];
    const ledger = new ByteLedger({ perNetwork: 1000, perPod: 10_000 });
    opened(ledger, 'a', 'ada', closed).set(900);
    const ben = opened(ledger, 'a', 'ben', closed);
    opened(ledger, 'b', 'cas', closed).set(900);
    ben.set(100);
    assert.deepEqual(closed, []);
    ben.set(101);
    assert.deepEqual(closed, ['ada']);
    assert.equal(ledger.bytesOf('a'), 101);
    ben.set(1001);
    assert.deepEqual(closed, ['ada', 'ben'], 'alone over the budget it is the largest');
  });

  test('as many of a network are closed as its budget needs', () => {
    const closed: string[] = [];
    const ledger = new ByteLedger({ perNetwork: 1000, perPod: 10_000 });
    opened(ledger, 'a', 'ada', closed).set(300);
    opened(ledger, 'a', 'ben', closed).set(600);
    opened(ledger, 'a', 'cas', closed).set(990);
    assert.deepEqual(closed, ['cas']);
    opened(ledger, 'a', 'dee', closed).set(850);
    assert.deepEqual(closed, ['cas', 'dee']);
    const eve = opened(ledger, 'a', 'eve', closed);
    eve.set(100);
    eve.set(500);
    assert.deepEqual(closed, ['cas', 'dee', 'ben']);
    assert.equal(ledger.bytesOf('a'), 800);
  });

  test('over the budget of the pod accounts of the network that holds most are closed, the largest first', () => {
    const closed: string[] = [];
    const ledger = new ByteLedger({ perNetwork: 1000, perPod: 1500 });
    opened(ledger, 'a', 'ada', closed).set(300);
    opened(ledger, 'a', 'ben', closed).set(600);
    const cas = opened(ledger, 'b', 'cas', closed);
    cas.set(600);
    assert.deepEqual(closed, []);
    cas.set(601);
    assert.deepEqual(closed, ['ben']);
    assert.equal(ledger.bytes, 901);
  });

  test('ends also where an account does not close', () => {
    const ledger = new ByteLedger({ perNetwork: 1000, perPod: 100 });
    let asked = 0;
    ledger.open('a', () => (asked += 1)).set(200);
    assert.equal(asked, 1);
  });
});
