import type { Gathered } from '../cluster/worker-bus';
import { Families, type Line, type ReadFamily, type Shared } from './families';

type Said = readonly { readonly process: number; readonly family: ReadFamily }[];

/**
 * What several processes say, as one text. Each line carries its process as a label, so that the counter of a process that
 * was replaced begins anew as counters do, and that of one that does not answer is absent: a sum would fall, and what reads
 * it would take that for new events. Only what all say of the same thing is said once.
 */
export async function merged(
  { answers, missing }: Gathered<readonly ReadFamily[]>,
  shared: ReadonlyMap<string, Shared>,
): Promise<string> {
  const families = new Families();
  const said = new Map<string, { process: number; family: ReadFamily }[]>();
  for (const { process, value } of answers) {
    for (const family of value) {
      const others = said.get(family.name);
      if (others === undefined) said.set(family.name, [{ process, family }]);
      else others.push({ process, family });
    }
  }
  for (const [name, each] of said) {
    const { help = '', type = 'gauge' } = each[0]?.family ?? {};
    const lines = linesOf(each, shared.get(name));
    families.add(name, help, type, () => lines);
  }
  families.gauge('leaf_process_up', '1 for a process of this server that answers', () => [
    ...answers.map(({ process }) => ({ labels: { process }, value: 1 })),
    ...missing.map(({ process }) => ({ labels: { process }, value: 0 })),
  ]);
  return families.registry.metrics();
}

function linesOf(said: Said, shared: Shared | undefined): Line[] {
  if (shared === undefined) {
    return said.flatMap(({ process, family }) =>
      family.values.map((line) => ({ ...line, labels: { ...line.labels, process } })),
    );
  }
  const lines = new Map<string, Line>();
  for (const line of said.flatMap(({ family }) => family.values)) {
    const key = JSON.stringify(line.labels);
    const before = lines.get(key);
    const counts = before === undefined || (shared === 'least' ? line.value < before.value : line.value > before.value);
    if (counts) lines.set(key, line);
  }
  return [...lines.values()];
}
