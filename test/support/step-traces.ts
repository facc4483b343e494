import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

/** What the check of step logs has found. */
export interface TraceCheck {
  /** Traces that are behaviours of the model. */
  readonly accepted: number;
  /** Those that are not, each with the step that the model does not have. */
  readonly refused: readonly string[];
}

/**
 * Checks the step logs in a directory, those of the processes of one run, with proof/trace/check.mjs. A check that fails itself
 * counts as a refusal, so that the run fails and its report is written.
 */
export async function checkTraces(directory: string): Promise<TraceCheck> {
  const child = spawn(process.execPath, ['proof/trace/check.mjs', directory], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const closing = /^(\d+) passed, (\d+) failed$/m.exec(output);
  if (closing === null) return { accepted: 0, refused: [`The check of ${directory} failed: ${errors}${output}`] };
  const failed = Number(closing[2]);
  return { accepted: Number(closing[1]), refused: output.split('\n').slice(0, failed) };
}
