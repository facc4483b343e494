import { Film } from './film';
import { RULE_NAMES, SCENES } from './scenes';
import { LEARN_TEXTS } from './texts/texts';
import type { Action } from './world/film-world';

const OF_SCENE = SCENES.map((scene) => [scene.rule, scene] as const);

it('has one scene for each rule, and a caption for each of its moments', () => {
  expect(SCENES.map(({ rule }) => rule)).toEqual(RULE_NAMES);
  for (const { rules } of Object.values(LEARN_TEXTS)) {
    for (const { rule, moments } of SCENES) {
      expect([rule, rules[rule].captions.length]).toEqual([rule, moments.length]);
    }
  }
});

it.each(OF_SCENE)('%s: with all rules, no ID repeats and no server is lost', async (_, scene) => {
  const film = new Film(scene);
  await film.run(() => film.playToEnd());
  const { ids, duplicates } = film.world;
  expect([duplicates.length, film.isBroken, film.ended]).toEqual([0, false, true]);
  expect(new Set(ids.map(({ id }) => id)).size).toBe(ids.length);
  expect(ids.length).toBeGreaterThan(8);
});

it('is the same in each run', async () => {
  const play = async (): Promise<unknown> => {
    const film = new Film(SCENES[2]);
    await film.run(() => film.playToEnd());
    return [film.world.log, film.world.ids.map(({ id }) => id)];
  };
  expect(await play()).toEqual(await play());
});

it('steps to what happens next', async () => {
  const film = new Film(SCENES.find(({ rule }) => rule === 'R3'));
  const moments: number[] = [];
  while (!film.ended) {
    await film.run(() => film.playToNext());
    moments.push(film.moment);
  }
  expect([...new Set(moments)]).toEqual([0, 1, 2, 3]);
  // An acquisition, an end of a lease and the like are steps of their own.
  expect(moments.length).toBeGreaterThan(5);
});

it('issues no duplicate in free play, whatever the user does', async () => {
  const film = new Film(undefined);
  const faults = ['pause', 'cut', 'crash', 'stop'] as const;
  const act = (action: Action): Promise<void> => film.run(({ world }) => world.act(action));
  for (let round = 0; round < 60; round++) {
    const server = 'ABC'.charAt(round % 3);
    await film.run(() => film.playTo(round * 3000));
    await act({ do: faults[(round * 7) % 4] ?? 'crash', server });
    await act({ do: 'clock', server, ms: round % 4 < 2 ? 3000 : -3000 });
    if (round % 20 === 10) await act({ do: 'empty' });
    await film.run(() => film.playTo(round * 3000 + 900));
    for (const repair of ['resume', 'connect', 'start'] as const) await act({ do: repair, server });
  }
  expect(film.world.duplicates).toEqual([]);
  expect(film.world.ids.length).toBeGreaterThan(100);
});
