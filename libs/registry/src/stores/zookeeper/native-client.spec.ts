import { locateNativeClient } from './native-client';

describe('locateNativeClient', () => {
  it('says how to install a package that is missing', () => {
    const locate = (): string => locateNativeClient('zookeeper-as-nobody-installs-it');
    expect(locate).toThrow(
      expect.objectContaining({
        code: 'LEAF_CONFIG_INVALID',
        message: expect.stringMatching(
          /Cannot find module .*run npm install zookeeper-as-nobody-installs-it .*Node\.js 26/,
        ),
        cause: expect.anything(),
      }),
    );
  });
});
