import { Command, CommanderError } from 'commander';
import { LeafError } from '@leaf-ids/core';
import { problemOf, reasonOf, visible } from '@leaf-ids/core/internal';
import { addCompletion } from './completion';

/** Exit code of a command that was refused or failed. */
export const FAILED = 1;
/** Exit code of invalid arguments. */
export const USAGE = 2;

/** Output of a command. */
export interface Terminal {
  /** Results only, so that other programs can read them. */
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

export const PROCESS_TERMINAL: Terminal = {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
};

export interface ProgramOptions {
  readonly terminal?: Terminal;
  /** Whether errors are JSON; see {@link wantsJson}. */
  readonly json?: boolean;
  /** A sentence for messages about invalid arguments. */
  readonly hint?: string;
}

/** Whether the arguments ask for JSON. Invalid ones are reported as JSON too, so this does not wait for the parser. */
export function wantsJson(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return args.slice(0, end === -1 ? undefined : end).includes('--json');
}

/** An error as one line of JSON: what a server responds with, and the message under that name. */
export function errorJson(error: unknown): string {
  const known = error instanceof LeafError ? error : new LeafError('LEAF_INTERNAL', reasonOf(error), { cause: error });
  const { code, detail: message, title, status } = problemOf(known);
  const { retryAfterMs } = known;
  return `${visible(JSON.stringify({ code, message, title, status, retryAfterMs }))}\n`;
}

/** A program whose errors are one line each. Subcommands inherit its settings. */
export function createProgram(
  name: string,
  version: string,
  { terminal = PROCESS_TERMINAL, json = false, hint }: ProgramOptions = {},
): Command {
  const refuse = (text: string): void => {
    const fault = text
      .replace(/^error: /, '')
      .trim()
      .replaceAll(/\s*\n\s*/g, ' ')
      .replace(/\.$/, '');
    const message = `${[fault, hint, `${name} --help shows the usage`].filter(Boolean).join('. ')}.`;
    terminal.err(json ? errorJson(new LeafError('LEAF_REQUEST_INVALID', message)) : `${name}: ${visible(message)}\n`);
  };
  return new Command(name)
    .version(version, '-v, --version', 'show the version')
    .helpOption('-h, --help', 'show the usage')
    .helpCommand('help [command]', 'show the usage of a command')
    .exitOverride()
    .configureOutput({
      writeOut: terminal.out,
      // The usage, where a command is missing.
      writeErr: json ? () => refuse('a command is missing') : terminal.err,
      outputError: refuse,
    });
}

/**
 * Runs the command that the arguments name, or `completion`, which every program has.
 *
 * @param args without the program and its file
 * @returns the exit code
 */
export async function runProgram(program: Command, args: readonly string[]): Promise<number> {
  addCompletion(program);
  try {
    await program.parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? 0 : USAGE;
  }
}
