/** Removes as many items as possible while `fails` holds: halves first, then smaller parts, then single items. */
export async function shrink<T>(items: readonly T[], fails: (rest: readonly T[]) => Promise<boolean>): Promise<T[]> {
  let rest = [...items];
  for (let size = Math.ceil(rest.length / 2); size >= 1 && rest.length > 0;) {
    let removed = false;
    for (let at = 0; at < rest.length;) {
      const fewer = [...rest.slice(0, at), ...rest.slice(at + size)];
      if (await fails(fewer)) {
        rest = fewer;
        removed = true;
      } else at += size;
    }
    if (size === 1 && !removed) break;
    size = size > 1 ? Math.floor(size / 2) : 1;
  }
  return rest;
}
