import { LeafError } from '@leaf-ids/core';

/** Something that can be asked of every process of a server. What is asked and answered is plain data. */
export class BusRequest<Question, Answer> {
  declare readonly types: [Question, Answer];

  constructor(readonly name: string) {}
}

export interface Gathered<Answer> {
  /** The answers in the order of their processes. */
  readonly answers: readonly { readonly process: number; readonly value: Answer }[];
  readonly missing: readonly Missing[];
}

/** A process that did not answer. */
export interface Missing {
  readonly process: number;
  readonly reason: string;
  /** The process has ended; its replacement begins with what the others know. */
  readonly gone: boolean;
}

/**
 * The processes that are one server together, this one included. What they answer may be from slightly different
 * moments, and one that is stuck or being replaced does not answer at all.
 */
export abstract class ProcessBus {
  /** Which of them this is, from 0. */
  abstract readonly process: number;
  abstract readonly count: number;

  /** Registers the function that answers questions of this topic. */
  abstract serve<Question, Answer>(
    topic: BusRequest<Question, Answer>,
    answer: (question: Question) => Answer | Promise<Answer>,
  ): void;

  /** Asks all of them, this one included, and waits a second for the others. Rejects as the answer of this one does. */
  abstract ask<Question, Answer>(topic: BusRequest<Question, Answer>, question: Question): Promise<Gathered<Answer>>;
}

type AnyAnswer = (question: unknown) => unknown;

/** The answers of one process to the questions of the others. */
export class Answers {
  private readonly known = new Map<string, AnyAnswer>();

  set<Question, Answer>(
    topic: BusRequest<Question, Answer>,
    answer: (question: Question) => Answer | Promise<Answer>,
  ): void {
    this.known.set(topic.name, answer as AnyAnswer);
  }

  /** Rejects as the answer does, and where nothing is served. */
  async to(topic: string, question: unknown): Promise<unknown> {
    const answer = this.known.get(topic);
    if (answer === undefined) throw new Error(`nothing is said about ${topic} yet`);
    return await answer(question);
  }
}

/** A server of one process. */
export class SingleProcess extends ProcessBus {
  readonly process = 0;
  readonly count = 1;
  private readonly answers = new Answers();

  serve<Question, Answer>(
    topic: BusRequest<Question, Answer>,
    answer: (question: Question) => Answer | Promise<Answer>,
  ): void {
    this.answers.set(topic, answer);
  }

  async ask<Question, Answer>(topic: BusRequest<Question, Answer>, question: Question): Promise<Gathered<Answer>> {
    const value = (await this.answers.to(topic.name, question)) as Answer;
    return { answers: [{ process: 0, value }], missing: [] };
  }
}

/**
 * Has all processes of the server do something that may be done twice. One that is being replaced takes over from the
 * others what they hold.
 *
 * @returns what this process answered
 * @throws LeafError `LEAF_NOT_READY` when one did not, though the others did
 */
export async function broadcast<Command, Answer>(
  bus: ProcessBus,
  topic: BusRequest<Command, Answer>,
  command: Command,
): Promise<Answer | undefined> {
  const { answers, missing } = await bus.ask(topic, command);
  const failed = missing.find(({ gone }) => !gone);
  if (failed === undefined) return answers.find(({ process }) => process === bus.process)?.value;
  throw new LeafError(
    'LEAF_NOT_READY',
    `Process ${failed.process} of this server has not done it: ${failed.reason}. The others have: ask again.`,
    { retryAfterMs: 1000 },
  );
}
