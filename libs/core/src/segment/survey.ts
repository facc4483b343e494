/** Calls `see` with each tag and the number of IDs that it has issued since it was loaded. */
export type Survey = (see: (tag: string, issued: number) => void) => Promise<void>;

/** The entries of `known` without tags that are gone, or that were created again and have not issued an ID since. */
export async function usedOnly<Value>(known: ReadonlyMap<string, Value>, survey: Survey): Promise<Map<string, Value>> {
  const used = new Map<string, Value>();
  await survey((tag, issued) => {
    const value = known.get(tag);
    if (issued > 0 && value !== undefined) used.set(tag, value);
  });
  return used;
}
