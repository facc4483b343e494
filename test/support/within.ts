/**
 * What `act` resolves or rejects with. Rejects if it takes longer than a timer of this process: a pause of the machine
 * delays both, so the limit can be close to what is promised. For limits that this process keeps itself.
 *
 * @param ms longest time, in milliseconds
 */
export async function within<T>(ms: number, act: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`It took longer than ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([act(), late]);
  } finally {
    clearTimeout(timer);
  }
}
