import type { Clock } from '@leaf-ids/core';
import { reasonOf, withinDeadline } from '@leaf-ids/core/internal';
import type { ProcessCommand, Reply, Report } from './messages';
import { RELAY_LIMIT_MS } from './relay';
import { Answers, type Gathered, type Missing, ProcessBus, type BusRequest } from './process-bus';

/** Time limit of a question to the other processes, in milliseconds. */
const LIMIT_MS = RELAY_LIMIT_MS + 1000;

/** The way to the process that supervises this one. */
export interface Channel {
  /** Does nothing when the supervisor is gone. */
  send(report: Report): void;
  onCommand(act: (command: ProcessCommand) => void): void;
}

/** One of several processes of a server. Questions to the others go by way of the one that supervises them. */
export class ChannelBus extends ProcessBus {
  private readonly answers = new Answers();
  private readonly asked = new Map<number, (replies: readonly Reply[]) => void>();
  private questions = 0;

  constructor(
    readonly process: number,
    readonly count: number,
    private readonly channel: Channel,
    private readonly clock: Clock,
  ) {
    super();
    channel.onCommand((command) => {
      if (command.kind === 'ask') void this.reply(command.id, command.topic, command.question);
      if (command.kind === 'replies') this.asked.get(command.id)?.(command.replies);
    });
  }

  serve<Question, Answer>(
    topic: BusRequest<Question, Answer>,
    answer: (question: Question) => Answer | Promise<Answer>,
  ): void {
    this.answers.set(topic, answer);
  }

  async ask<Question, Answer>(topic: BusRequest<Question, Answer>, question: Question): Promise<Gathered<Answer>> {
    const others = this.askOthers(topic.name, question);
    const own = (await this.answers.to(topic.name, question)) as Answer;
    const answers = [{ process: this.process, value: own }];
    const missing: Missing[] = [];
    for (const reply of await others) {
      const { process } = reply;
      if ('missing' in reply) missing.push({ process, reason: reply.missing, gone: reply.gone });
      else answers.push({ process, value: reply.value as Answer });
    }
    answers.sort((a, b) => a.process - b.process);
    return { answers, missing };
  }

  private async askOthers(topic: string, question: unknown): Promise<readonly Reply[]> {
    const id = ++this.questions;
    let found: readonly Reply[] | undefined;
    const answered = new Promise<void>((resolve) => {
      this.asked.set(id, (replies) => {
        found = replies;
        resolve();
      });
    });
    this.channel.send({ kind: 'ask', id, topic, question });
    await withinDeadline(answered, this.clock.monotonic() + LIMIT_MS, this.clock);
    this.asked.delete(id);
    return found ?? this.nobody();
  }

  private nobody(): Reply[] {
    const all = Array.from({ length: this.count }, (_, process) => process);
    return all
      .filter((process) => process !== this.process)
      .map((process) => ({ process, missing: 'the process that supervises it did not answer', gone: false }));
  }

  private async reply(id: number, topic: string, question: unknown): Promise<void> {
    try {
      this.channel.send({ kind: 'answer', id, value: await this.answers.to(topic, question) });
    } catch (error) {
      this.channel.send({ kind: 'no answer', id, reason: reasonOf(error) });
    }
  }
}
