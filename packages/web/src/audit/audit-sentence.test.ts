import { describe, expect, it } from 'vitest'
import { de } from '../i18n/de.ts'
import { en } from '../i18n/en.ts'
import { auditSentence, auditSubject } from './audit-sentence.ts'

const object = (type: string, name: string, activity = 'created') => ({ type, id: '1', name, activity })
const entry = (operation: string, objects: readonly object[]) =>
  ({ operation, objects, actor: { id: 1, email: 'ada@example.com', name: 'Ada' } }) as never

describe('an entry of the audit log', () => {
  it.each([
    ['createFeatureFlag', [object('FeatureFlag', 'audited')], 'created the flag audited', 'hat erstellt: Flag audited'],
    [
      'updateFeatureFlag',
      [object('FeatureFlag', 'a', 'updated'), object('FeatureFlag', 'b', 'updated'), object('Cohort', 'c', 'updated')],
      'updated the flag a and 2 more changes',
      'hat geändert: Flag a und 2 weitere Änderungen',
    ],
    [
      'createChangeRequest',
      [object('FeatureFlag', 'Launch', 'change_requested')],
      'requested a change: Launch',
      'hat eine Änderung beantragt: Launch',
    ],
    ['login', [object('SignIn', 'ada@example.com', 'signed_in')], 'signed in', 'hat sich angemeldet'],
    [
      'login',
      [object('SignIn', 'eve@example.com', 'refused')],
      'was refused at sign-in',
      'wurde bei der Anmeldung abgewiesen',
    ],
    ['exportAuditLog', [], 'exported the audit log', 'hat das Audit-Protokoll exportiert'],
    ['updateFeatureFlag', [], 'sent a request that changed nothing', 'hat eine Anfrage gesendet, die nichts ändert'],
    ['later', [object('Rocket', 'r', 'was_launched')], 'was launched Rocket r', 'was launched Rocket r'],
  ])('of %s is a sentence', (operation, objects, english, german) => {
    expect(auditSentence(entry(operation, objects), en)).toBe(english)
    expect(auditSentence(entry(operation, objects), de)).toBe(german)
  })

  it('says that it cannot be read', () => {
    const unreadable = {
      operation: 'unreadable',
      objects: [],
      actor: null,
      credential: null,
      is_unreadable: true,
    } as never
    expect(`${auditSubject(unreadable, en)} ${auditSentence(unreadable, en)}`).toBe(
      'Unreadable entry was changed in the database',
    )
    expect(`${auditSubject(unreadable, de)} ${auditSentence(unreadable, de)}`).toBe(
      'Unlesbarer Eintrag wurde in der Datenbank verändert',
    )
  })

  it('has a subject, also where no account is known', () => {
    const refused = [object('SignIn', 'eve@example.com', 'refused')]
    expect(auditSubject(entry('login', []), en)).toBe('ada@example.com')
    expect(auditSubject({ actor: null, credential: null, objects: refused } as never, en)).toBe('eve@example.com')
    expect(auditSubject({ actor: null, credential: { kind: 'command_line' }, objects: [] } as never, en)).toBe(
      'Command line',
    )
    expect(auditSubject({ actor: null, credential: null, objects: [] } as never, de)).toBe('System')
  })
})
