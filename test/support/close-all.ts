/**
 * Calls all functions in reverse order and removes them.
 *
 * @throws AggregateError with their errors, after all have been called
 */
export async function closeAll(opened: (() => unknown)[]): Promise<void> {
  const problems: unknown[] = [];
  for (let close = opened.pop(); close !== undefined; close = opened.pop()) {
    try {
      await close();
    } catch (error) {
      problems.push(error);
    }
  }
  if (problems.length > 0) throw new AggregateError(problems, 'Not everything was closed.');
}
