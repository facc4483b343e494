import type { Session } from './session';

/** A reply, or its parts in their order, each written on demand. */
export type Reply = string | Iterator<string, undefined>;

/** The name of the command and its arguments. */
export type Words = readonly string[];

export interface Command {
  /** Number of arguments. */
  readonly minimum: number;
  readonly maximum: number;

  /**
   * @param words as many as declared
   * @throws LeafError
   */
  run(words: Words, session: Session): Reply | Promise<Reply>;
}

/** Commands by name, in upper case. */
export type Commands = Readonly<Record<string, Command>>;

export function command(minimum: number, maximum: number, run: Command['run']): Command {
  return { minimum, maximum, run };
}
