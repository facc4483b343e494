import { useEffect, useState } from 'preact/hooks';
import { type Problem, request } from '../../api/problem';

export interface Polled<T> {
  /** The newest answer; it stays while later requests fail. */
  readonly answer: T | undefined;
  /** Time of arrival, by the clock of this browser. */
  readonly at: number;
  /** Why the newest request failed. */
  readonly problem: Problem | undefined;
}

/** Requests JSON again and again while the page is visible, each time after the previous answer. */
export function usePolled<T>(path: string, everyMs: number): Polled<T> {
  const [polled, setPolled] = useState<Polled<T>>({ answer: undefined, at: 0, problem: undefined });
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let round = 0;
    const ask = async (): Promise<void> => {
      const own = ++round;
      const outcome = await request(path, async (response) => (await response.json()) as T);
      if (own !== round) return;
      setPolled((known) =>
        outcome.ok
          ? { answer: outcome.value, at: Date.now(), problem: undefined }
          : { ...known, problem: outcome.problem },
      );
      timer = setTimeout(() => void ask(), everyMs);
    };
    const stop = (): void => {
      round++;
      clearTimeout(timer);
    };
    const follow = (): void => {
      stop();
      if (!document.hidden) void ask();
    };
    follow();
    document.addEventListener('visibilitychange', follow);
    return () => {
      stop();
      document.removeEventListener('visibilitychange', follow);
    };
  }, [path, everyMs]);
  return polled;
}
