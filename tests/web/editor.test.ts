import { describe, expect, it } from 'vitest'
import { expectFocus, expectSound, suiteVisit } from './browser.ts'

const visit = suiteVisit()

const flags = () => `${visit.scenario.project}/feature_flags`
const pages = () => `/project/${visit.scenario.projectId}/flags`

describe('the flag editor', { timeout: 120_000 }, () => {
  it('creates the first flag from an empty list', async () => {
    const page = await visit.signedIn(`/project/${visit.scenario.projectId}/flags`)
    await page.getByText('No flags yet').waitFor()
    await page.getByRole('button', { name: 'New flag' }).last().click()
    await page.getByRole('textbox', { name: 'Key' }).fill('new-checkout')
    await page.getByRole('textbox', { name: 'Description' }).fill('The checkout of 2026')
    await expectSound(page)

    await page.getByRole('button', { name: 'Add filter' }).click()
    await page.getByRole('menuitem', { name: 'Person property' }).click()
    const property = page.getByRole('combobox', { name: 'Property', exact: true })
    // A new filter gets the focus.
    await expectFocus(property)
    await property.fill('email')
    await page.getByRole('combobox', { name: 'Operator' }).selectOption('ends_with')
    await page.getByRole('combobox', { name: 'Value', exact: true }).fill('@example.com')

    const preview = page.getByRole('region', { name: 'Try it' })
    await preview.getByText('No condition matched').waitFor()
    await preview.getByLabel('email').fill('ada@example.com')
    await preview.getByText('Condition 1 matched').waitFor()
    await expectSound(page)

    await page.getByRole('button', { name: 'Add filter' }).click()
    await page.getByRole('menuitem', { name: 'Cohort' }).click()
    await page.getByRole('group', { name: 'Cohort' }).getByRole('button', { name: 'Remove filter' }).focus()
    await page.keyboard.press('Enter')
    await expect.poll(() => page.evaluate('document.activeElement.tagName')).not.toBe('BODY')

    await page.getByRole('button', { name: 'Create flag' }).click()
    await page.getByRole('button', { name: 'Show code' }).waitFor()
    await page.getByRole('heading', { name: 'new-checkout', level: 1 }).waitFor()
    // The notification ends when the step that it offers is taken some other way.
    await page.getByRole('tab', { name: 'Code' }).click()
    await page.getByRole('button', { name: 'Show code' }).waitFor({ state: 'hidden' })
    const { body } = await visit.scenario.get(`${flags()}/?search=new-checkout`)
    expect(body.results[0]).toMatchObject({
      key: 'new-checkout',
      name: 'The checkout of 2026',
      // Creating a flag releases nothing.
      active: false,
      filters: {
        groups: [
          {
            properties: [{ key: 'email', type: 'person', operator: 'ends_with', value: '@example.com' }],
            rollout_percentage: 100,
          },
        ],
      },
    })
  })

  it('groups the operators, the usual ones first', async () => {
    const groupsIn = async (locale: string, add: string, kind: string) => {
      const page = await visit.signedIn(`${pages()}/new`, { locale, width: 390 })
      await page.getByRole('button', { name: add }).click()
      await page.getByRole('menuitem', { name: kind }).click()
      const operator = page.getByRole('combobox', { name: 'Operator' })
      await operator.waitFor()
      await expectSound(page)
      return operator.locator('optgroup').evaluateAll(groups => groups.map(group => group.getAttribute('label')))
    }
    expect(await groupsIn('en-US', 'Add filter', 'Person property')).toEqual([
      'Most used',
      'Text',
      'Number',
      'Date',
      'Version',
      'Lists and other types',
    ])
    const german = await groupsIn('de-DE', 'Filter hinzufügen', 'Personeneigenschaft')
    expect(german[0]).toBe('Häufig verwendet')
  })

  it('scrolls to the field that prevents saving', async () => {
    await visit.scenario.post(`${flags()}/`, { key: 'taken' })
    const page = await visit.signedIn(`${pages()}/new`, { locale: 'de-DE' })
    await page.getByRole('textbox', { name: 'Key' }).fill('taken')
    await page.getByRole('button', { name: 'Filter hinzufügen' }).click()
    await page.getByRole('menuitem', { name: 'Personeneigenschaft' }).click()
    const create = page.getByRole('button', { name: 'Flag erstellen' })
    await create.click()
    await page.getByText('Wähle eine Eigenschaft oder entferne diesen Filter').waitFor()
    await expectSound(page)
    await page.getByRole('button', { name: 'Filter entfernen' }).click()
    await create.click()
    await page.getByText('Ein anderes Flag verwendet diesen Key bereits.').waitFor()
    await expect.poll(() => page.evaluate('document.activeElement?.value')).toBe('taken')
    await expectSound(page)
  })

  it('keeps variants at 100%, validates payloads, shows a diff before saving, and lists the history', async () => {
    const { body: flag } = await visit.scenario.post(`${flags()}/`, {
      key: 'pricing',
      filters: { groups: [{ properties: [], rollout_percentage: 100 }], custom: 'as is' },
    })
    const page = await visit.signedIn(`${pages()}/${flag.id}`, { dark: true })
    await page.getByText('Multivariate', { exact: true }).click()
    await page.getByRole('button', { name: 'Add variant' }).click()
    await page.getByRole('textbox', { name: 'Percentage of control' }).fill('50')
    await page.getByText('control 50% · test 25% · variant-3 25%').waitFor()
    await page.getByRole('textbox', { name: 'Payload of test' }).fill('{"price": ')
    await page.getByText('Invalid JSON (line 1, column 11)').waitFor()
    await page.keyboard.press('Control+s')
    await page.getByText('Payload is not valid JSON').waitFor()
    await expectFocus(page.getByRole('textbox', { name: 'Payload of test' }))
    expect(await page.getByRole('dialog').count()).toBe(0)
    await expectSound(page)
    await page.getByRole('textbox', { name: 'Payload of test' }).fill('{"price": 9}')
    await page.getByText('Unsaved changes', { exact: true }).waitFor()
    await expectSound(page)
    await page.keyboard.press('Control+s')
    const review = page.getByRole('dialog', { name: 'Review changes' })
    await review.getByText('Variant control: 50%').waitFor()
    await expectSound(page)
    await review.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Changes saved', { exact: true }).waitFor()
    const saved = await visit.scenario.get(`${flags()}/${flag.id}/`)
    expect(saved.body.filters).toMatchObject({
      custom: 'as is',
      multivariate: {
        variants: [
          { key: 'control', rollout_percentage: 50 },
          { key: 'test', rollout_percentage: 25 },
          { key: 'variant-3', rollout_percentage: 25 },
        ],
      },
    })
    expect(JSON.parse(saved.body.filters.payloads.test)).toEqual({ price: 9 })

    await page.getByRole('tab', { name: 'History' }).click()
    await page.getByText('Added: Variant control: 50%').waitFor()
    await expectSound(page)
    await page.getByRole('tab', { name: 'Code' }).click()
    await page.getByText(visit.scenario.projectToken).first().waitFor()
    await expectSound(page)
    await page.getByRole('tab', { name: 'Access' }).click()
    await page.getByText('No additional roles can edit this flag').waitFor()
    await expectSound(page)
  })

  it('shows errors at the field, before and after the request', async () => {
    const page = await visit.signedIn(`${pages()}/new`)
    await page.getByRole('button', { name: 'Create flag' }).click()
    await page.getByText('Enter a key').waitFor()
    await page.getByRole('textbox', { name: 'Key' }).fill('new-checkout')
    await page.getByRole('button', { name: 'Add filter' }).click()
    await page.getByRole('menuitem', { name: 'Person property' }).click()
    await page.getByRole('combobox', { name: 'Property', exact: true }).fill('email')
    await page.getByRole('combobox', { name: 'Operator' }).selectOption('regex')
    await page.getByRole('textbox', { name: 'Value', exact: true }).fill('(')
    await page.getByRole('button', { name: 'Create flag' }).click()
    await page.getByRole('region', { name: 'Condition 1' }).getByText('The regular expression cannot be used').waitFor()
    await page.getByText('Fix 1 issue to save').waitFor()
    await expectSound(page)
    await page.getByRole('textbox', { name: 'Value', exact: true }).fill('^a')
    await page.getByRole('button', { name: 'Create flag' }).click()
    await expect.poll(() => page.getByRole('textbox', { name: 'Key' }).getAttribute('aria-invalid')).toBe('true')
  })

  it('shows an edit conflict in three columns, with the name of the other editor, and merges the rest', async () => {
    const { body: flag } = await visit.scenario.post(`${flags()}/`, { key: 'contested' })
    const wanda = await visit.scenario.join('wanda')
    const page = await visit.signedIn(`${pages()}/${flag.id}`)
    await page.getByRole('textbox', { name: 'Description' }).fill('mine')
    await wanda.patch(`${flags()}/${flag.id}/`, { name: 'theirs' })
    // The change arrives while the form is open.
    await page.getByText(/^wanda changed what you are editing \(.+\)\./).waitFor()
    await expectSound(page)
    await page.getByRole('button', { name: 'Resolve conflicts' }).click()
    const conflict = page.getByRole('dialog', { name: 'This flag changed while you were editing' })
    const place = conflict.getByRole('radiogroup', { name: 'Version of Description' })
    const shown = async () => (await place.innerText()).split(/\s+/).join(' ')
    await expect.poll(shown).toMatch(/^Original None Theirs · wanda, .+ theirs Mine mine$/)
    // A click anywhere on a card chooses it.
    await place.getByText('theirs', { exact: true }).click()
    await expect.poll(() => place.getByRole('radio', { name: /^Theirs/ }).isChecked()).toBe(true)
    await expectSound(page)
    await place.getByText('mine', { exact: true }).click()
    await conflict.getByRole('button', { name: 'Apply and review' }).click()
    const review = page.getByRole('dialog', { name: 'Review changes' })
    await review.getByText('Removed: theirs').waitFor()
    await review.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Changes saved', { exact: true }).waitFor()
    expect((await visit.scenario.get(`${flags()}/${flag.id}/`)).body.name).toBe('mine')

    // What does not collide is merged without a question.
    await page.getByRole('textbox', { name: 'Description' }).fill('mine again')
    await visit.scenario.patch(`${flags()}/${flag.id}/`, { tags: ['theirs'] })
    await page.getByText('Merged with a newer version').waitFor()
    await page.keyboard.press('Control+s')
    await review.getByText('Added: mine again').waitFor()
    await review.getByRole('button', { name: 'Save' }).click()
    await review.waitFor({ state: 'hidden' })
    await expect
      .poll(async () => (await visit.scenario.get(`${flags()}/${flag.id}/`)).body)
      .toMatchObject({ name: 'mine again', tags: ['theirs'] })
  })

  it('asks in dialogs that trap and restore the focus', async () => {
    const { body: flag } = await visit.scenario.post(`${flags()}/`, { key: 'doomed' })
    const page = await visit.signedIn(`${pages()}/${flag.id}`)
    const focused = () => page.evaluate<string>('document.activeElement.innerText || document.activeElement.ariaLabel')
    await page.getByRole('textbox', { name: 'Description' }).fill('not saved')
    await page.getByRole('link', { name: 'Debugger' }).click()
    const leaving = page.getByRole('dialog', { name: 'Discard unsaved changes?' })
    await leaving.getByText('Your changes will be lost.').waitFor()
    await expectSound(page)
    for (const name of ['Close', 'Keep editing', 'Discard changes']) {
      await page.keyboard.press('Tab')
      await expect.poll(focused).toBe(name)
    }
    await page.keyboard.press('Escape')
    await leaving.waitFor({ state: 'hidden' })
    await expect.poll(focused).toBe('Debugger')
    expect(await page.getByRole('textbox', { name: 'Description' }).inputValue()).toBe('not saved')
    await page.getByRole('button', { name: 'Discard changes' }).click()

    const more = page.getByRole('button', { name: 'More actions' })
    await more.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('menuitem', { name: 'Delete' }).waitFor()
    await page.keyboard.press('ArrowDown')
    await expect.poll(focused).toBe('Delete')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Delete the flag doomed?' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await expect.poll(focused).toBe('More actions')
    await more.click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('Deleted').first().waitFor()
    // The change is optimistic; the request may still be running.
    await expect.poll(async () => (await visit.scenario.get(`${flags()}/${flag.id}/`)).body.deleted).toBe(true)
  })

  it('supports flag dependencies and phones', async () => {
    const page = await visit.signedIn(`${pages()}/new`, { width: 360, height: 740, dark: true })
    await page.getByRole('textbox', { name: 'Key' }).fill('dependent')
    await page.getByRole('button', { name: 'Add filter' }).click()
    await page.getByRole('menuitem', { name: 'Flag', exact: true }).click()
    await page.getByRole('combobox', { name: 'Flag', exact: true }).fill('pricing')
    await page.getByRole('option', { name: 'pricing' }).click()
    await page.getByRole('combobox', { name: 'Value' }).selectOption('test')
    await expectSound(page)
    await page.getByRole('button', { name: 'Create flag' }).click()
    await page.getByRole('heading', { name: 'dependent', level: 1 }).waitFor()
    await expectSound(page)
  })
})
