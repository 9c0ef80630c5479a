import { readFileSync } from 'node:fs'
import type { Locator } from 'playwright-core'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { expectSound, sendEventsOfAda, suiteVisit } from './browser.ts'

const visit = suiteVisit()
let flagId: number
beforeAll(async () => {
  const { scenario } = visit
  const { body } = await scenario.post(`${scenario.project}/feature_flags/`, {
    key: 'search-v2',
    filters: {
      groups: [{ properties: [{ key: 'plan', type: 'person', operator: 'exact', value: ['pro'] }] }],
      multivariate: {
        variants: [
          { key: 'control', rollout_percentage: 0 },
          { key: 'fast', rollout_percentage: 100 },
        ],
      },
      payloads: { fast: '{"boost":2}' },
    },
  })
  flagId = body.id
  await sendEventsOfAda(scenario)
  await vi.waitUntil(async () => (await scenario.get(`${scenario.project}/persons/`)).body.count > 0, {
    timeout: 60_000,
  })
}, 120_000)

const inProject = (path: string) => `/project/${visit.scenario.projectId}${path}`

describe('a flag', { timeout: 120_000 }, () => {
  it('is tried with a real person, and its key is renamed only after a confirmation', async () => {
    const page = await visit.signedIn(inProject(`/flags/${flagId}`))
    const preview = page.getByRole('region', { name: 'Try it' })
    await preview.getByText('No condition matched').waitFor()
    await preview.getByRole('combobox', { name: /^Person/ }).fill('ada@')
    await page.getByRole('option', { name: /ada@example.com/ }).click()
    await preview.getByText('"boost": 2').waitFor()
    expect(await preview.getByLabel('plan').inputValue()).toBe('pro')
    await page.getByRole('button', { name: 'Rename key' }).click()
    const dialog = page.getByRole('dialog', { name: 'Rename the key search-v2?' })
    await dialog.getByText('Code that still uses search-v2').waitFor()
    await dialog.getByRole('button', { name: 'Rename key' }).click()
    await dialog.waitFor({ state: 'hidden' })
    await page.getByRole('textbox', { name: 'Key', exact: true }).fill('search-v3')
    await expectSound(page)
  })

  it('fills the place of its impact in a project without people', async () => {
    const { scenario } = visit
    const { body: project } = await scenario.post('/api/projects/', { name: 'Empty' })
    const { body: flag } = await scenario.post(`/api/projects/${project.id}/feature_flags/`, { key: 'lonely' })
    const page = await visit.signedIn(`/project/${project.id}/flags/${flag.id}`)
    const card = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Impact' }) })
    const text = await card.getByText('No people yet').boundingBox()
    const link = await card.getByRole('link', { name: 'SDK setup' }).boundingBox()
    const box = (await card.getByRole('status').boundingBox())!
    // In the middle, with as much space above as below.
    expect(Math.abs((text!.y + link!.y + link!.height) / 2 - (box.y + box.height / 2))).toBeLessThan(30)
    await expectSound(page)
    await card.getByRole('link', { name: 'SDK setup' }).click()
    await page.getByRole('heading', { name: 'SDK setup', level: 1 }).waitFor()
  })

  it('leaves no blank space below its impact, on the page and in dialogs', async () => {
    const { scenario } = visit
    for (const [rollout, loses] of [
      [100, 1],
      [0, 0],
    ]) {
      const { body: flag } = await scenario.post(`${scenario.project}/feature_flags/`, {
        key: 'no-blanks',
        filters: { groups: [{ properties: [], rollout_percentage: rollout }] },
      })
      for (const width of [390, 1280, 1920]) {
        const page = await visit.signedIn(inProject(`/flags/${flag.id}`), { width })
        /** From the end of the text to the end of its box. */
        const blankIn = (area: Locator) =>
          area.getByRole('status').evaluate(box => {
            const text = box.ownerDocument.createRange()
            text.selectNodeContents(box)
            return box.getBoundingClientRect().bottom - text.getBoundingClientRect().bottom
          })
        const card = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Impact' }) })
        await card.getByText(`On for ${loses} of 1`).waitFor()
        await expect.poll(() => blankIn(card), { message: `beside the editor, ${width} px` }).toBeLessThan(8)
        await page.getByRole('switch', { name: 'On', exact: true }).press('Space')
        const review = page.getByRole('dialog')
        await review.getByText(`${loses} would lose access`).waitFor()
        // On a phone, the examples of those who lose have a line of their own.
        const blankMax = width === 390 && loses === 0 ? 24 : 8
        await expect.poll(() => blankIn(review), { message: `in the review, ${width} px` }).toBeLessThan(blankMax)
        await page.close()
      }
      await scenario.patch(`${scenario.project}/feature_flags/${flag.id}/`, { deleted: true })
    }
  })

  it('falls through to the next condition outside a rollout, and says so', async () => {
    const { scenario } = visit
    const { body: flag } = await scenario.post(`${scenario.project}/feature_flags/`, {
      key: 'falls-through',
      filters: { groups: [0, 100].map(rollout_percentage => ({ properties: [], rollout_percentage })) },
    })
    const page = await visit.signedIn(inProject(`/flags/${flag.id}`))
    await page.getByText('Anyone outside a condition’s rollout falls through to the next.').waitFor()
    await page.getByRole('region', { name: 'Try it' }).getByText('Condition 2 matched').waitFor()
    await scenario.patch(`${scenario.project}/feature_flags/${flag.id}/`, { deleted: true })
  })

  it('suggests properties and values of what it is matched by', async () => {
    const definitions = `${visit.scenario.project}/property_definitions/?type=group&group_type_index=0`
    await vi.waitUntil(async () => (await visit.scenario.get(definitions)).body.count > 0, { timeout: 60_000 })
    const page = await visit.signedIn(inProject('/flags/new'))
    await page.getByRole('textbox', { name: 'Key' }).fill('for-companies')
    await page.getByRole('combobox', { name: 'Match by' }).selectOption('company')
    await page.getByRole('button', { name: 'Add filter' }).click()
    await page.getByRole('option', { name: 'size' }).waitFor()
    expect(await page.getByRole('option', { name: 'plan' }).count()).toBe(0)
    await page.getByRole('option', { name: 'size' }).click()
    await page.getByRole('combobox', { name: 'Value', exact: true }).click()
    await page.getByRole('option', { name: '12' }).click()
    await page.getByText('On for 1 of 1').waitFor()
    await expectSound(page)
  })

  it('has code for each target with its variants and payload', async () => {
    const page = await visit.signedIn(inProject(`/flags/${flagId}?tab=code`), { dark: true })
    await page.getByRole('tab', { name: 'Go', exact: true }).click()
    const code = page.getByRole('group', { name: 'Use the flag with Go' })
    await expect.poll(() => code.textContent()).toContain('case "fast":')
    expect(await code.textContent()).toContain('GetFlagPayload("search-v2")')
    await expectSound(page)
  })

  it('shows what each member can do with it, and why', async () => {
    const { scenario } = visit
    const { body: flag } = await scenario.post(`${scenario.project}/feature_flags/`, { key: 'guarded-flag' })
    const { body: role } = await scenario.post(`${scenario.organization}/roles/`, { name: 'Release managers' })
    const level = { feature_flags_access_level: 21 }
    await scenario.patch(`${scenario.organization}/roles/${role.id}/`, level)
    const nina = await scenario.join('nina')
    await scenario.join('victor')
    await scenario.post(`${scenario.organization}/roles/${role.id}/role_memberships/`, { user_uuid: nina.uuid })
    const page = await visit.signedIn(`/project/${scenario.projectId}/flags/${flag.id}?tab=access`)
    const table = page.getByRole('table', { name: 'Effective access' })
    const rowOf = (name: string) => table.getByRole('row', { name: new RegExp(name) })
    await rowOf('nina').getByText('Can view').waitFor()
    await rowOf('nina').getByText('Role Release managers').waitFor()
    await rowOf('victor').getByText('Organization default').waitFor()
    await table.getByText('Creator of the flag').waitFor()
    await expectSound(page)
    await page.getByRole('combobox', { name: 'Grant edit access to a role' }).selectOption('Release managers')
    await page.getByRole('button', { name: 'Grant access' }).click()
    await rowOf('nina').getByText('Can edit').waitFor()
    await rowOf('nina').getByText('Role Release managers, for this flag').waitFor()
    // Someone else changes the default.
    await scenario.patch(`${scenario.organization}/`, { default_access_level: 21 })
    await rowOf('victor').getByText('Can view').waitFor()
    await expectSound(page)
    await scenario.patch(`${scenario.organization}/`, { default_access_level: 37 })
    await scenario.patch(`${scenario.project}/feature_flags/${flag.id}/`, { deleted: true })
  })

  it('has an owner, links and comments', async () => {
    const page = await visit.signedIn(inProject(`/flags/${flagId}?tab=details`), { width: 390 })
    const details = page.getByRole('region', { name: 'Ownership' })
    await details.getByLabel('Owner').selectOption({ index: 1 })
    await details.getByRole('button', { name: 'Add link' }).click()
    await details.getByRole('textbox', { name: 'URL' }).fill('https://issues.example.com/1')
    await details.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Details saved').waitFor()
    await page.getByRole('textbox', { name: 'Write a comment' }).fill('Remove after the sale.')
    await page.getByRole('button', { name: 'Comment', exact: true }).click()
    await page.getByRole('article').getByText('Remove after the sale.').waitFor()
    await expectSound(page)
    const { body } = await visit.scenario.get(`${visit.scenario.project}/feature_flags/${flagId}/details/`)
    expect(body).toMatchObject({ owner: { id: 1 }, links: [{ url: 'https://issues.example.com/1' }], comment_count: 1 })
  })

  it('has a schema for its payloads, with errors at the field', async () => {
    const page = await visit.signedIn(inProject(`/flags/${flagId}?tab=details`))
    const section = page.getByRole('region', { name: 'Payload schema' })
    const field = section.getByRole('textbox', { name: 'JSON Schema' })
    await field.fill('{\n  "type": }')
    await section.getByText('Invalid JSON (line 2, column 11)').waitFor()
    await field.fill('{"type": "null"}')
    await section.getByRole('button', { name: 'Save' }).click()
    await section.getByText('A payload of the flag does not match').waitFor()
    await field.fill('{"description": "Anything"}')
    await section.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Payload schema saved').waitFor()
    await expectSound(page)
    const { body } = await visit.scenario.get(`${visit.scenario.project}/feature_flags/${flagId}/payload_schema/`)
    expect(body.schema).toEqual({ description: 'Anything' })
  })
})

describe('a project', { timeout: 120_000 }, () => {
  it('lists flags that need attention and archives them', async () => {
    await visit.scenario.post(`${visit.scenario.project}/feature_flags/`, { key: 'leftover' })
    const page = await visit.signedIn(inProject('/health'))
    await page.getByRole('button', { name: /^Constant 1/ }).click()
    await page
      .getByRole('row', { name: /leftover/ })
      .getByText('Always true')
      .waitFor()
    await expectSound(page)
    await page.getByRole('button', { name: 'Archive: leftover' }).click()
    const dialog = page.getByRole('dialog', { name: 'Archive leftover?' })
    await dialog.getByText('Nothing depends on it.').waitFor()
    await dialog.getByRole('button', { name: 'Archive', exact: true }).click()
    await page.getByText('leftover archived').waitFor()
    await page.getByText('No flags need attention').waitFor()
  })

  it('evaluates flags for many people in the playground', async () => {
    const { scenario } = visit
    const page = await visit.signedIn(inProject('/playground'))
    await page.getByRole('textbox', { name: 'People' }).fill('distinct_id,plan\nada,\nbob,pro')
    await page.getByRole('button', { name: 'Evaluate' }).click()
    const results = page.getByRole('table', { name: 'Results' })
    await results.getByRole('row', { name: /bob/ }).getByText('fast').waitFor()
    await expectSound(page)

    // Pasted properties win over stored ones, and what-if properties are for everyone.
    await page
      .getByRole('textbox', { name: 'People' })
      .fill('[{"distinct_id": "=cy", "properties": {"plan": "free"}}, "dee"]')
    await page.getByRole('textbox', { name: 'What-if properties' }).fill('plan = pro')
    await scenario.post(`${scenario.project}/feature_flags/`, { key: 'beside' })
    await page.getByRole('textbox', { name: 'Flags' }).fill('beside')
    await page.getByRole('combobox', { name: 'Compare with a draft of' }).fill('search')
    await page.getByRole('option', { name: 'search-v2' }).click()
    await page.getByRole('textbox', { name: 'Draft filters (JSON)' }).fill('{"groups": []}')
    await page.getByRole('button', { name: 'Evaluate' }).click()
    await page.getByText(/^The draft changes the value for \d of 2 people\.$/).waitFor()
    await results.getByRole('columnheader', { name: 'Draft of search-v2' }).waitFor()
    await results.getByRole('row', { name: /dee/ }).getByText('changed').waitFor()
    await expectSound(page)
    const exported = async (name: string) => {
      const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name }).click()])
      return readFileSync(await download.path(), 'utf8')
    }
    const [header, first, second] = (await exported('Export CSV')).split('\r\n')
    expect(header).toBe('distinct_id,beside,search-v2,draft')
    // A spreadsheet must not read an id as a formula.
    expect(first).toMatch(/^'=cy,true,(fast|false),false$/)
    expect(second).toBe('dee,true,fast,false')
    const json = JSON.parse(await exported('Export JSON'))
    expect(json[1]).toMatchObject({
      distinct_id: 'dee',
      values: { 'search-v2': { value: 'fast' } },
      draft: { value: false },
    })
  })

  it('filters its activity, and the filters are in the URL', async () => {
    const page = await visit.signedIn(inProject('/activity'))
    await page.getByRole('article').first().waitFor()
    await page.getByLabel('Kind').selectOption('deleted')
    await page.getByText('No matching activity').waitFor()
    expect(new URL(page.url()).searchParams.get('kind')).toBe('deleted')
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.getByRole('article').first().waitFor()
    await expectSound(page)
  })

  it('exports its activity, and links to each entry', async () => {
    const page = await visit.signedIn(inProject('/activity?kind=created'))
    const entry = page.getByRole('article').filter({ hasText: 'search-v2' })
    await entry.waitFor()
    const exported = async (name: string) => {
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name, exact: true }).click(),
      ])
      return readFileSync(await download.path(), 'utf8')
    }
    const entries = JSON.parse(await exported('Export JSON'))
    expect(entries.every(({ activity }: { activity: string }) => activity === 'created')).toBe(true)
    const { id } = entries.find(({ detail }: { detail: { name: string } }) => detail.name === 'search-v2')
    expect(await exported('Export CSV')).toContain(`\n${id},`)
    await entry.getByRole('link', { name: 'Link' }).click()
    await expect.poll(() => page.getByRole('article').count()).toBe(1)
    expect(new URL(page.url()).searchParams.get('entry')).toBe(JSON.stringify(String(id)))
    await page.reload()
    await entry.waitFor()
    await expectSound(page)
  })
})

describe('flags of another service', { timeout: 120_000 }, () => {
  it('are reviewed, imported and linked', async () => {
    const on = { on: true, salt: 's', variations: [true, false], offVariation: 1, fallthrough: { variation: 0 } }
    const clauses = [{ attribute: 'city', op: 'near', values: ['Bern'] }]
    const document = { flags: { moved: on, odd: { ...on, rules: [{ clauses, variation: 0 }] } } }
    const page = await visit.signedIn(inProject('/import'))
    const file = {
      name: 'launchdarkly.json',
      mimeType: 'application/json',
      buffer: Buffer.from(JSON.stringify(document)),
    }
    await page.locator('input[type=file]').setInputFiles(file)
    await page.getByText('launchdarkly.json').waitFor()
    await page.getByRole('button', { name: 'Review import' }).click()
    const table = page.getByRole('table', { name: 'Flags and segments of the file' })
    await table.getByText('The operator "near" is not known; express the clause with another one.').waitFor()
    await expectSound(page)
    await page.getByLabel('Show').selectOption('refused')
    await table.getByText('moved').waitFor({ state: 'hidden' })
    await page.getByLabel('Show').selectOption('')
    await page.getByRole('button', { name: 'Import', exact: true }).click()
    await page.getByText('1 created, 0 updated.').waitFor()
    await table.getByRole('link', { name: 'moved' }).click()
    await page.getByRole('heading', { name: 'moved' }).waitFor()
  })

  it('go into a new environment set, each environment into its own project', async () => {
    const page = await visit.signedIn(inProject('/import'))
    const choose = async (name: string, content: string) => {
      const buffer = Buffer.from(content)
      await page.locator('input[type=file]').setInputFiles({ name, mimeType: 'application/json', buffer })
      await page.getByText(name).waitFor()
      await page.getByRole('button', { name: 'Review import' }).click()
    }
    await choose('broken.json', '{\n  "items": [,]')
    await page.getByRole('alert').getByText('line 2, column').waitFor()

    const state = { on: true, salt: 's', offVariation: 1, fallthrough: { variation: 0 } }
    const variations = [{ value: true }, { value: false }]
    const item = { key: 'everywhere', name: '', variations, environments: { staging: state, production: state } }
    await choose('export.json', JSON.stringify({ items: [item] }))
    await page.getByLabel('Import into').selectOption('new')
    await page.getByLabel('Name of the environment set').fill('Elsewhere')
    await page.getByRole('checkbox', { name: 'staging' }).waitFor()
    await expectSound(page)
    await page.getByRole('button', { name: 'Review import' }).click()
    const table = page.getByRole('table', { name: 'Flags and segments of the file' })
    await table.getByText('everywhere').waitFor()
    await page.getByRole('region', { name: 'Results' }).getByText('Exact 1').waitFor()
    await page.getByLabel('Environment', { exact: true }).selectOption({ label: 'production (new project)' })
    await table.getByText('everywhere').waitFor()
    await expectSound(page)
    await page.getByRole('button', { name: 'Import', exact: true }).click()
    await page.getByText('2 created, 0 updated.').waitFor()
    await table.getByRole('link', { name: 'everywhere' }).click()
    await page.getByRole('heading', { name: 'everywhere' }).waitFor()
  })

  it('go into an existing environment set, as mapped', async () => {
    const { scenario } = visit
    const { body: set } = await scenario.post(`${scenario.organization}/environment_sets/`, { name: 'Mapped' })
    const [development] = set.environments as { project: number }[]
    const page = await visit.signedIn(`/project/${development!.project}/import`, { width: 390, dark: true })
    const state = { on: true, salt: 's', offVariation: 1, fallthrough: { variation: 0 } }
    const variations = [{ value: true }, { value: false }]
    const item = { key: 'mapped', variations, environments: { development: state, live: { ...state, on: false } } }
    const buffer = Buffer.from(JSON.stringify({ items: [item] }))
    await page.locator('input[type=file]').setInputFiles({ name: 'two.json', mimeType: 'application/json', buffer })
    await page.getByText('two.json').waitFor()
    await page.getByRole('button', { name: 'Review import' }).click()
    await page.getByLabel('production').selectOption('live')
    await expectSound(page)
    await page.getByRole('button', { name: 'Review import' }).click()
    const table = page.getByRole('table', { name: 'Flags and segments of the file' })
    await table.getByText('mapped').waitFor()
    await page.getByLabel('Environment', { exact: true }).selectOption({ label: 'production' })
    await page.getByRole('button', { name: 'Import', exact: true }).click()
    await page.getByText('2 created, 0 updated.').waitFor()
    await expectSound(page)
    await table.getByRole('link', { name: 'mapped' }).click()
    await page.getByRole('heading', { name: 'mapped' }).waitFor()
    expect(page.url()).toContain(`/project/${set.environments[1].project}/flags/`)
  })

  it('have a certificate that names what differs', async () => {
    const certificate = {
      source: 'launchdarkly',
      environment: 'production',
      file_sha256: 'ab'.repeat(32),
      sdk: '@launchdarkly/node-server-sdk',
      sdk_version: '9.13.7',
      halyard_version: '0.1.0',
      node_version: '24.1.0',
      seed: 7,
      contexts: 10,
      pairs: 2_000_000,
      equal: 1_999_999,
      differing: 1,
      declared: 0,
      sdk_errors: 0,
      exact: 1,
      approximate: 1,
      refused: 0,
      flags: [
        { key: 'moved', status: 'exact', reasons: [], pairs: 1_000_000, equal: 999_999 },
        { key: 'dated', status: 'approximate', reasons: ['Dates differ.'], pairs: 1_000_000, equal: 1_000_000 },
      ],
      differences: [
        {
          flag: 'moved',
          status: 'exact',
          context: { id: 'ann', attributes: { plan: 'pro' } },
          there: true,
          here: false,
          there_trace: { kind: 'FALLTHROUGH' },
          here_trace: { conditions: [] },
        },
      ],
    }
    await visit.scenario.post(`${visit.scenario.project}/import_certificates/`, { certificate })
    const page = await visit.signedIn(inProject('/import'))
    await page.getByRole('link', { name: '@launchdarkly/node-server-sdk 9.13.7' }).click()
    await page.getByText('For ann, the SDK returns true and Halyard false.').waitFor()
    await page.getByText('2,000,000').waitFor()
    await page.getByText('Show how both sides decide').click()
    await page.getByRole('group', { name: '@launchdarkly/node-server-sdk' }).getByText('FALLTHROUGH').waitFor()
    await page.getByRole('table', { name: 'Compared flags' }).getByText('Dates differ.').waitFor()
    await expectSound(page)
  })

  it('show how often the other service agreed', async () => {
    const { scenario } = visit
    const { body: flag } = await scenario.post(`${scenario.project}/feature_flags/`, { key: 'shadowed' })
    const { body: key } = await scenario.post(`${scenario.project}/secret_keys/`, { label: 'shadow' })
    const example = { there: 'a', here: 'b', distinct_id: 'ann' }
    const flags = [{ key: 'shadowed', agree: 3_100_000, differ: 2, example }]
    const reported = await scenario.as(key.value).post('/api/shadow_reports/', { batch_id: 'one', flags })
    expect(reported.status).toBe(200)
    const page = await visit.signedIn(inProject(`/flags/${flag.id}?tab=usage`), { width: 390 })
    const line = page.getByRole('alert', { name: 'Shadow mode: 3,100,000 agree, 2 differ' })
    await line.getByText('for ann, the other service returned "a" and Halyard "b"').waitFor()
    await expectSound(page)
  })
})
