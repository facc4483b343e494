import { LeaseHolder } from './lease-holder';

it('A server remembers a limited number of acquisitions', () => {
  const holder = new LeaseHolder({ ip: '10.0.0.7', port: 8080 }, 'lease', () => -1);
  for (let ceiling = 1; ceiling <= 150; ceiling++) holder.acquisition(10_000 + ceiling, ceiling, ceiling);
  expect([holder.replacedBy(50), holder.replacedBy(51), holder.replacedBy(150)]).toEqual([undefined, 51, 150]);
});
