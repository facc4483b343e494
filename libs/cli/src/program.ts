import { Command, CommanderError } from 'commander';

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

/**
 * A program whose errors are one line each. Subcommands inherit its settings.
 *
 * @param hint a sentence for messages about invalid arguments
 */
export function createProgram(name: string, version: string, terminal = PROCESS_TERMINAL, hint?: string): Command {
  return new Command(name)
    .version(version, '-v, --version', 'show the version')
    .helpOption('-h, --help', 'show the usage')
    .helpCommand('help [command]', 'show the usage of a command')
    .exitOverride()
    .configureOutput({
      writeOut: terminal.out,
      writeErr: terminal.err,
      outputError: (text, write) => {
        const fault = text
          .replace(/^error: /, '')
          .trim()
          .replaceAll(/\s*\n\s*/g, ' ')
          .replace(/\.$/, '');
        write(`${name}: ${[fault, hint, `${name} --help shows the usage`].filter(Boolean).join('. ')}.\n`);
      },
    });
}

/**
 * Runs the command that the arguments name.
 *
 * @param args without the program and its file
 * @returns the exit code
 */
export async function runProgram(program: Command, args: readonly string[]): Promise<number> {
  try {
    await program.parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? 0 : USAGE;
  }
}
