import { expect, test } from 'vitest'
import { startVisit, expectSound } from './browser.ts'
test('x', async () => {
  const v = await startVisit()
  for (let i = 0; i < 12; i++) await v.scenario.post(`${v.scenario.project}/feature_flags/`, {key: `checkout-step-${i}`, name: 'New checkout', tags: i%2?['web','billing']:[], active: i%3>0, filters: {groups:[{properties: i%2?[{key:'email',type:'person',operator:'icontains',value:'@x'}]:[], rollout_percentage: i*9}]}})
  const p = await v.open()
  await p.goto('/login'); await p.waitForSelector('h1')
  await p.screenshot({path:'/tmp/s1.png'})
  await expectSound(p)
  const page = await v.signedIn('/')
  await page.getByText('checkout-step-11').waitFor()
  await page.screenshot({path:'/tmp/s2.png'})
  await expectSound(page)
  const d = await v.signedIn('/', {dark: true, width: 360, height: 740})
  await d.getByText('checkout-step-11').waitFor()
  await d.screenshot({path:'/tmp/s3.png'})
  await expectSound(d)
  await v.close()
}, 150_000)
