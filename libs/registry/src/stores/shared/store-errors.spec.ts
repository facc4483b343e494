import { unavailable, unreadable, unusable } from './store-errors';

it('An error of a registry keeps its cause, and says whether a later attempt may succeed', () => {
  const cause = new Error('broken');
  expect(unusable('etcd', 'No right.', cause)).toMatchObject({
    ...{ code: 'LEAF_CONFIG_INVALID', retryable: false, cause },
    message: 'Cannot use the worker registry etcd. No right.',
  });
  expect(unavailable('etcd', 'It is away.', cause)).toMatchObject({
    ...{ code: 'LEAF_REGISTRY_UNREACHABLE', retryable: true, retryAfterMs: 1000, cause },
    message: 'The worker registry etcd is unavailable. It is away. This server retries automatically.',
  });
  expect(unavailable('etcd', 'It is busy.', cause, 5000)).toMatchObject({ retryAfterMs: 5000 });
  expect(unreadable('etcd', 'key /leaf')).toMatchObject({ code: 'LEAF_WORKER_FILE_INVALID', retryable: false });
});
