import type { Clock } from '@leaf-ids/core';
import { withinDeadline } from '@leaf-ids/core/internal';
import type { ProcessCommand, Reply, Report } from './messages';

/** A process that does not answer in this time is reported as missing, in milliseconds. */
export const RELAY_LIMIT_MS = 1000;

/** A process that takes part. */
export interface Member {
  readonly process: number;
  readonly ended: boolean;
  send(command: ProcessCommand): void;
}

interface Open {
  readonly to: Member;
  readonly settle: (reply: Reply) => void;
}

type Ask = Extract<Report, { kind: 'ask' }>;
type Answer = Extract<Report, { kind: 'answer' | 'no answer' }>;

/** Passes a question of one process on to all others, and their answers back to it. */
export class Relay {
  private readonly open = new Map<number, Open>();
  /** Processes that did not answer in time and have not answered since: nothing waits for them. */
  private readonly late = new Set<Member>();
  private asked = 0;

  /** @param memberOf the process of that number; undefined when there is none now */
  constructor(
    private readonly count: number,
    private readonly memberOf: (process: number) => Member | undefined,
    private readonly clock: Clock,
  ) {}

  async ask(from: Member, { id, topic, question }: Ask): Promise<void> {
    const others = Array.from({ length: this.count }, (_, process) => process).filter(
      (process) => process !== from.process,
    );
    const replies = await Promise.all(others.map((process) => this.askOne(process, topic, question)));
    from.send({ kind: 'replies', id, replies });
  }

  /** @param from who answers: nobody does so for another one */
  answer(from: Member, report: Answer): void {
    this.late.delete(from);
    const open = this.open.get(report.id);
    if (open?.to !== from) return;
    const { process } = from;
    open.settle(
      report.kind === 'answer' ? { process, value: report.value } : { process, missing: report.reason, gone: false },
    );
  }

  /** It has ended, and answers nothing any more. */
  gone(member: Member): void {
    this.late.delete(member);
    for (const { to, settle } of this.open.values()) {
      if (to === member) settle({ process: to.process, missing: 'it has ended', gone: true });
    }
  }

  private async askOne(process: number, topic: string, question: unknown): Promise<Reply> {
    const to = this.memberOf(process);
    if (to === undefined) return { process, missing: 'it is being replaced', gone: true };
    const id = ++this.asked;
    let found: Reply | undefined;
    const answered = new Promise<void>((resolve) => {
      const settle = (reply: Reply): void => {
        found = reply;
        resolve();
      };
      this.open.set(id, { to, settle });
    });
    to.send({ kind: 'ask', id, topic, question });
    const isInTime =
      !this.late.has(to) && (await withinDeadline(answered, this.clock.monotonic() + RELAY_LIMIT_MS, this.clock));
    this.open.delete(id);
    if (!isInTime && !to.ended) this.late.add(to);
    return found ?? { process, missing: `it did not answer within ${RELAY_LIMIT_MS} ms`, gone: false };
  }
}
