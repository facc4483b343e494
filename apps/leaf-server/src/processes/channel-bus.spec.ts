import { FakeClock } from '@leaf-ids/core/testing';
import type { Channel } from './channel-bus';
import { ChannelBus } from './channel-bus';
import type { ProcessCommand, Report } from './messages';
import { BusRequest } from './process-bus';

const DOUBLE = new BusRequest<number, number>('double');

class FakeChannel implements Channel {
  readonly sent: Report[] = [];
  command: (command: ProcessCommand) => void = () => undefined;

  send(report: Report): void {
    this.sent.push(report);
  }

  onCommand(act: (command: ProcessCommand) => void): void {
    this.command = act;
  }
}

describe('ChannelBus', () => {
  let clock: FakeClock;
  let channel: FakeChannel;
  let bus: ChannelBus;

  beforeEach(() => {
    clock = new FakeClock();
    channel = new FakeChannel();
    bus = new ChannelBus(1, 3, channel, clock);
    bus.serve(DOUBLE, (number) => number * 2);
  });

  it('gathers the answers of all, by process', async () => {
    const gathered = bus.ask(DOUBLE, 4);
    expect(channel.sent).toEqual([{ kind: 'ask', id: 1, topic: 'double', question: 4 }]);
    const replies = [
      { process: 2, missing: 'it has ended', gone: true },
      { process: 0, value: 80 },
    ];
    channel.command({ kind: 'replies', id: 1, replies });
    expect(await gathered).toEqual({
      answers: [
        { process: 0, value: 80 },
        { process: 1, value: 8 },
      ],
      missing: [{ process: 2, reason: 'it has ended', gone: true }],
    });
    expect(clock.sleeping).toBe(0);
  });

  it('does without the others when nobody passes its question on', async () => {
    const gathered = bus.ask(DOUBLE, 4);
    await clock.advance(2000);
    const { answers, missing } = await gathered;
    expect(answers).toEqual([{ process: 1, value: 8 }]);
    expect(missing.map(({ process }) => process)).toEqual([0, 2]);
  });

  it('answers what it is asked, or says why not', async () => {
    channel.command({ kind: 'ask', id: 9, topic: 'double', question: 21 });
    await clock.advance(0);
    channel.command({ kind: 'ask', id: 10, topic: 'nothing of the kind', question: 21 });
    await clock.advance(0);
    expect(channel.sent).toEqual([
      { kind: 'answer', id: 9, value: 42 },
      { kind: 'no answer', id: 10, reason: expect.stringContaining('nothing of the kind') },
    ]);
  });

  it('fails when this process does', async () => {
    bus.serve(DOUBLE, () => Promise.reject(new Error('broken')));
    await expect(bus.ask(DOUBLE, 1)).rejects.toThrow('broken');
  });
});
