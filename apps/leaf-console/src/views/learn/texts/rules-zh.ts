import type { RuleName } from '../scenes';
import type { RuleTexts } from './en';

export const rulesZh: Readonly<Record<RuleName, RuleTexts>> = {
  R1: {
    name: '先预留',
    says: '服务器发放的 ID 不超过注册中心已记录的上限。',
    captions: [
      'A 获得 workerId 0。注册中心记录的上限比时钟超前 6 秒，A 每 2 秒提高一次。B 没有可用的 workerId。',
      'A 断网，无法再提高上限。',
      'A 的上限已过，B 获得了 workerId 0。',
    ],
    without: 'A 超过已记录的上限继续发放，而此时 B 已持有 workerId 0。',
    kept: 'A 超过上限后拒绝请求（LEAF_LEASE_EXPIRED），B 可以安全使用 workerId 0。',
  },
  R2: {
    name: '上限之后开始',
    says: '新的持有者只发放时间晚于所读上限的 ID。',
    captions: ['A 持有 workerId 1，上限最多比时钟超前 6 秒。', 'A 崩溃，时钟回拨 3 秒。', 'A 再次启动，称为 A2。'],
    without: 'A2 直接从自己的时钟开始，使用了 A 已用过的时间。',
    kept: 'A2 等到时钟超过已记录的上限才开始。',
  },
  R3: {
    name: '比较并设置',
    says: '每次写入都带上所读的版本。若其他服务器在此期间写过，写入失败。',
    captions: [
      'A 持有 workerId 0，B 等待。',
      'A 被暂停：长时间的垃圾回收，或虚拟机被挂起。',
      'A 已 6 秒没有上报，上限已过，B 获得了 workerId 0。',
      'A 恢复运行，下一次写入时发现 B 的记录。',
    ],
    without: 'A 把 B 的记录当成自己的，继续使用 workerId 0。',
    kept: 'A 写入失败，没有再发放 ID 就放弃了 workerId 0。',
  },
  R4: {
    name: '释放',
    says: '服务器停止时，把最新 ID 的时间记录为上限。',
    captions: [
      'A 持有 workerId 0。B 未运行，其时钟慢 3 秒。',
      'A 停止并释放 workerId 0。',
      'B 启动，寻找空闲的 workerId。',
    ],
    without: '释放的上限早于 A 的最新 ID，B 再次使用了相同的时间。',
    kept: 'B 等自己的时钟超过 A 的最新 ID 之后才获得 workerId 0。',
  },
  R5: {
    name: '历史尚短',
    says: '注册中心可能丢失过数据时，新来的服务器等待持有者重新登记。',
    captions: ['A 持有 workerId 0。', '注册中心丢失全部数据，A 尚不知道。', 'B 启动，看到空的注册中心。'],
    without: 'B 立即获得 workerId 0，而 A 还有预留时间。',
    kept: 'B 等待，A 在下一次上报时重新登记了 workerId 0。',
  },
  R6: {
    name: '统一的位布局',
    says: '同一注册中心的所有服务器使用相同的位布局。',
    captions: ['B 以另一种位布局启动：workerId 9 位、序列 13 位，而不是 10 位和 12 位。', 'A 以注册中心的位布局启动。'],
    without: 'B 的布局中的 workerId 1 与 A 的布局中的 workerId 2 产生相同的数字。',
    kept: 'B 拒绝启动（LEAF_LAYOUT_MISMATCH）。',
  },
  R7: {
    name: '两种丢失',
    says: '注册中心丢失写入后，持有者只有在上限未过时才重新登记。',
    captions: [
      'A 持有 workerId 0，B 等待。',
      'A 被暂停。',
      '注册中心的副本不再收到写入。',
      'A 的上限已过，B 获得了 workerId 0，副本不知道。',
      '注册中心切换到副本：B 的写入丢失，A 的记录重新出现。A 恢复运行。',
    ],
    without: 'A 看到自己的记录就继续发放，而 B 在此期间已接管 workerId 0。',
    kept: 'A 发现历史已变，而自己的上限已过，于是放弃 workerId 0。',
  },
  R8: {
    name: '后来者让步',
    says: '服务器发现已有同地址的服务器在运行时，拒绝启动。',
    captions: [
      'A 持有 workerId 1。',
      'B 因配置错误，以 A 的地址启动。',
      'A 每 2 秒写一次记录，B 由此得知 A 正在运行。',
    ],
    without: 'B 无休止地等待 workerId 1，也不报告错误。',
    kept: 'B 拒绝启动（LEAF_WORKER_HELD），A 不受影响。',
  },
  R9: {
    name: '上限可以降低',
    says: '每次上报把上限设为时钟加预留时长，即使因此降低。',
    captions: [
      'A 持有 workerId 0。',
      'A 的时钟向前跳 12 秒。A 上报：记录的上限高了 12 秒。',
      'A 的时钟恢复正确。',
      'A 断网，注册中心丢失数据。B 启动，并按规则 R5 等待。',
      'B 获得了 workerId 0：正确的时钟所设的上限都已过去。',
    ],
    without: 'A 仍使用错误时钟所设的上限，在 B 持有 workerId 0 时继续发放。',
    kept: '下一次上报已降低上限，A 在 B 获得 workerId 0 之前就拒绝请求。',
  },
  R10: {
    name: '自己的秒表',
    says: '服务器按自己的单调时钟（而不是墙上时钟）回收 6 秒内没有变化的记录。',
    captions: [
      'A 持有 workerId 0，B 等待。',
      'A 短时断网，仍有预留时间。',
      'B 的墙上时钟向前跳 8 秒。',
      '注册中心丢失数据。A 恢复联网，可以重新登记 workerId 0。',
      'A 持有 workerId 0。',
    ],
    without: 'B 按错误的时钟过早回收了 workerId 0，并使用了未来的时间；A 之后又使用了它们。',
    kept: 'B 按单调时钟计时，没有回收 workerId 0。',
  },
};
