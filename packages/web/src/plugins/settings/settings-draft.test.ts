import { expect, it } from 'vitest'
import type { PluginConfig } from '../plugin-queries.ts'
import { isSetting, readSchema } from './setting-rules.ts'
import { bodyOf, draftOf, valuesOf } from './settings-draft.ts'

const settings = readSchema({
  word: { type: 'string', default: 'hey' },
  data: { type: 'json' },
  extra: { type: 'string', visible_if: [['word', 'more']] },
  token: { type: 'string', secret: true },
  file: { type: 'attachment' },
}).filter(isSetting)

const config = (values: object) => ({ enabled: true, config: values, allowed_hosts: ['a.test'] }) as PluginConfig
const upload = { file_name: 'x', content_type: 'text/plain', contents_base64: 'eA==' }

it('starts with defaults', () => {
  const draft = draftOf(settings, undefined)
  expect(draft).toMatchObject({ isOn: false, texts: { word: 'hey', data: '', extra: '' }, hosts: [] })
  expect(bodyOf(settings, draft, undefined)).toEqual({
    enabled: false,
    config: { word: 'hey', data: '' },
    allowed_hosts: [],
  })
})

it('keeps stored secrets and shows stored values as text', () => {
  const stored = config({ data: { a: 1 }, token: '••••••••', file: { name: 'f', size: 3 } })
  const draft = draftOf(settings, stored)
  expect(draft.texts).toEqual({ word: '', data: '{\n  "a": 1\n}', extra: '' })
  expect(draft.secrets.token).toEqual({ kind: 'stored' })
  expect(valuesOf(draft)).toMatchObject({ token: '(stored)', file: '(stored)' })
  const body = bodyOf(settings, draft, stored)
  expect(body.config).not.toHaveProperty('token')
  expect(body).not.toHaveProperty('attachments')
  expect(body.allowed_hosts).toEqual(['a.test'])
})

it('sends new secrets and files, clears removed ones and omits hidden settings', () => {
  const stored = config({ token: '••••••••', file: { name: 'f', size: 3 } })
  const draft = draftOf(settings, stored)
  const replaced = bodyOf(
    settings,
    { ...draft, secrets: { token: { kind: 'new', text: 's' } }, files: { file: { name: 'x', size: 1, upload } } },
    stored,
  )
  expect(replaced).toMatchObject({ config: { token: 's' }, attachments: { file: upload } })
  const removed = bodyOf(
    settings,
    { ...draft, secrets: { token: { kind: 'new', text: '' } }, files: { file: undefined } },
    stored,
  )
  expect(removed).toMatchObject({ config: { token: '' }, attachments: { file: null } })
  const more = { ...draft, texts: { word: 'more', extra: 'shown' } }
  expect(bodyOf(settings, more, stored).config).toMatchObject({ extra: 'shown' })
  expect(bodyOf(settings, { ...more, texts: { word: 'x', extra: 'shown' } }, stored).config).not.toHaveProperty('extra')
})
