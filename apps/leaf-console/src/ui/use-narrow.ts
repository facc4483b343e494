import { useEffect, useState } from 'preact/hooks';

/** As in styles/frame.css: below this the rail is a bar at the bottom, and rows of tables are cards. */
const NARROW = '(max-width: 760px)';

export function useNarrow(): boolean {
  const [narrow, setNarrow] = useState(() => matchMedia(NARROW).matches);
  useEffect(() => {
    const query = matchMedia(NARROW);
    const follow = (): void => setNarrow(query.matches);
    query.addEventListener('change', follow);
    return () => query.removeEventListener('change', follow);
  }, []);
  return narrow;
}
