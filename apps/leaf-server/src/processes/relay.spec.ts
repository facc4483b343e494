import { FakeClock } from '@leaf-ids/core/testing';
import type { ProcessCommand } from './messages';
import { type Member, Relay } from './relay';

class FakeMember implements Member {
  readonly sent: ProcessCommand[] = [];
  ended = false;

  constructor(readonly process: number) {}

  send(command: ProcessCommand): void {
    this.sent.push(command);
  }
}

const QUESTION = { kind: 'ask', id: 7, topic: 'status', question: undefined } as const;

let clock: FakeClock;
let asker: FakeMember;
let other: FakeMember;
let relay: Relay;

beforeEach(() => {
  clock = new FakeClock();
  [asker, other] = [new FakeMember(0), new FakeMember(1)];
  relay = new Relay(2, (process) => [asker, other][process], clock);
});

/** The last question that `other` got is answered. */
function answer(value: unknown): void {
  const { id } = other.sent.at(-1) as { id: number };
  relay.answer(other, { kind: 'answer', id, value });
}

const replies = (): unknown => asker.sent.at(-1);

it('waits once for a process that hangs, and for its answers again after it has answered', async () => {
  const first = relay.ask(asker, QUESTION);
  await clock.advance(1000);
  await first;
  const missing = { process: 1, missing: 'it did not answer within 1000 ms', gone: false };
  expect(replies()).toEqual({ kind: 'replies', id: 7, replies: [missing] });

  await relay.ask(asker, { ...QUESTION, id: 8 });
  expect(replies()).toEqual({ kind: 'replies', id: 8, replies: [missing] });
  expect(clock.sleeping).toBe(0);

  answer('late');
  const third = relay.ask(asker, { ...QUESTION, id: 9 });
  answer('in time');
  await third;
  expect(replies()).toEqual({ kind: 'replies', id: 9, replies: [{ process: 1, value: 'in time' }] });
});
