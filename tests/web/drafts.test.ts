import { describe, expect, it } from 'vitest'
import { expectFocus, expectSound, suiteVisit } from './browser.ts'

const visit = suiteVisit()

const flags = () => `${visit.scenario.project}/feature_flags`
const pages = () => `/project/${visit.scenario.projectId}/flags`
const newFlag = async (key: string) => (await visit.scenario.post(`${flags()}/`, { key })).body

describe('keys and clicks', { timeout: 120_000 }, () => {
  it('after Ctrl K go to the palette, from the first one on', async () => {
    await newFlag('behind-the-palette')
    const page = await visit.signedIn(pages())
    await page.getByRole('link', { name: 'behind-the-palette' }).waitFor()
    await page.keyboard.press('j')
    const changed: string[] = []
    page.on('request', request => request.method() === 'PATCH' && changed.push(request.url()))
    await page.keyboard.press('Control+k')
    // Without waiting: these would toggle, open and select in the list.
    await page.keyboard.type('texjn')
    const field = page.getByRole('combobox', { name: 'Search', exact: true })
    await expect.poll(() => field.inputValue()).toBe('texjn')
    expect(changed).toEqual([])
    expect(new URL(page.url()).pathname).toBe(pages())
    await field.fill('bhp')
    await page.getByRole('option', { name: /behind-the-palette/, selected: true }).waitFor()
    await expectSound(page)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'behind-the-palette', level: 1 }).waitFor()

    // Actions of the page, and recent pages.
    await page.keyboard.press('Control+k')
    await page.getByRole('option', { name: /behind-the-palette.*Recent/ }).waitFor()
    await field.fill('turn')
    await page.getByRole('option', { name: /^Turn off behind-the-palette/, selected: true }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Turn behind-the-palette off?' }).waitFor()
  })

  it('are not lost when a payload field loses the focus', async () => {
    const page = await visit.signedIn(`${pages()}/new`)
    await expectFocus(page.getByRole('textbox', { name: 'Key' }))
    await page.keyboard.type('my flag!')
    await page.getByText('Use letters, numbers, - and _ only').waitFor()
    await page.getByRole('button', { name: 'Use my-flag' }).click()
    const payload = page.getByRole('textbox', { name: 'Payload' })
    await payload.pressSequentially('{"a":1,"b":[1,2,3]}')
    const create = page.getByRole('button', { name: 'Create flag' })
    // Waits until the button keeps its place. The mouse goes down and up there, as a hand does.
    await create.hover()
    await page.mouse.down()
    await page.mouse.up()
    await page.getByRole('heading', { name: 'my-flag', level: 1 }).waitFor()
  })
})

describe('an unsaved edit', { timeout: 120_000 }, () => {
  it('survives the tabs of the flag and a reload', async () => {
    const flag = await newFlag('edited')
    const page = await visit.signedIn(`${pages()}/${flag.id}`)
    page.on('dialog', dialog => dialog.accept())
    const description = page.getByRole('textbox', { name: 'Description' })
    await description.fill('not saved yet')
    await page.getByRole('tab', { name: 'Usage' }).click()
    await page.getByText('Not evaluated yet').waitFor()
    await expectSound(page)
    await page.getByRole('tab', { name: 'Targeting •' }).click()
    await expect.poll(() => description.inputValue()).toBe('not saved yet')
    await page.reload()
    await expect.poll(() => description.inputValue()).toBe('not saved yet')
    await page.getByRole('button', { name: 'Discard changes' }).click()
    await expect.poll(() => description.inputValue()).toBe('')
    await page.reload()
    await description.waitFor()
    expect(await description.inputValue()).toBe('')
  })

  it('survives an expired session, which is continued in place', async () => {
    const flag = await newFlag('long-edit')
    const page = await visit.signedIn(`${pages()}/${flag.id}`)
    await page.getByRole('textbox', { name: 'Description' }).fill('typed for hours')
    const key = await page.evaluate<string>("JSON.parse(sessionStorage.getItem('halyard.session')).key")
    await visit.scenario.as(key).post('/api/logout/')
    await page.keyboard.press('Control+s')
    const dialog = page.getByRole('dialog', { name: 'Session expired' })
    await dialog.waitFor()
    await expectFocus(dialog.locator('input[type=password]'))
    await expectSound(page)
    // Escape must not reveal a page that can do nothing.
    await page.keyboard.press('Escape')
    await page.keyboard.type('wrong')
    await page.keyboard.press('Enter')
    await dialog.getByText('Wrong password').waitFor()
    await dialog.locator('input[type=password]').fill(visit.scenario.owner.password)
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'hidden' })
    const review = page.getByRole('dialog', { name: 'Review changes' })
    await review.getByText('Added: typed for hours').waitFor()
    await review.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Changes saved', { exact: true }).waitFor()
    expect((await visit.scenario.get(`${flags()}/${flag.id}/`)).body.name).toBe('typed for hours')
  })

  it('stays when the server cannot be reached, with the error next to the button', async () => {
    const flag = await newFlag('offline')
    const page = await visit.signedIn(`${pages()}/${flag.id}`)
    await page.getByRole('textbox', { name: 'Description' }).fill('typed offline')
    await page.getByRole('button', { name: 'Review and save' }).click()
    const review = page.getByRole('dialog', { name: 'Review changes' })
    await review.waitFor()
    await page.context().setOffline(true)
    const banner = page.getByText('You are offline. Your edits are kept.')
    await banner.waitFor()
    await review.getByRole('button', { name: 'Save' }).click()
    await review.getByText('Can’t reach the server').waitFor()
    await expectSound(page)
    // Neither the banner nor the error outlives the interruption.
    await page.context().setOffline(false)
    await banner.waitFor({ state: 'hidden' })
    await expect.poll(() => page.getByText('Can’t reach the server').count()).toBe(0)
    await review.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Changes saved', { exact: true }).waitFor()
    expect((await visit.scenario.get(`${flags()}/${flag.id}/`)).body.name).toBe('typed offline')
  })
})
