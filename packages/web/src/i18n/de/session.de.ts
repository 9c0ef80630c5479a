import type { SessionMessages } from '../en/session.en.ts'

export const session: SessionMessages = {
  signIn: {
    showPassword: 'Passwort anzeigen',
    title: 'Bei Halyard anmelden',
    email: 'E-Mail',
    password: 'Passwort',
    stay: '30 Tage angemeldet bleiben',
    submit: 'Anmelden',
    expired: 'Sitzung abgelaufen. Melde dich an, um fortzufahren.',
    firstOwner:
      'Beim ersten Start gibt der Server E-Mail und Passwort des Inhabers aus. Alle anderen werden von einem Admin eingeladen. So setzt du ein Passwort auf dem Server im Halyard-Ordner zurück:',
    resetCommand: 'npm run halyard -- users reset-password --email du@example.com',
    firstOwnerTitle: 'Noch kein Konto?',
    wrong: 'E-Mail oder Passwort ist falsch',
    wrongPassword: 'Falsches Passwort',
    againTitle: 'Sitzung abgelaufen',
    again: email => `Melde dich als ${email} an, um fortzufahren. Deine Eingaben bleiben erhalten.`,
    otherUser: 'Als jemand anderes anmelden',
    signOut: 'Abmelden',
    or: 'oder',
    sso: 'Single Sign-on verwenden',
    ssoWith: (provider: string) => `Weiter mit ${provider}`,
    ssoEmailFirst: 'Gib zuerst deine E-Mail-Adresse ein.',
    ssoNone: (domain: string) =>
      `Für ${domain} ist kein Identitätsanbieter eingerichtet. Melde dich mit deinem Passwort an.`,
  },
  signUp: {
    title: organization => `${organization} beitreten`,
    intro: email => `Du wurdest als ${email} eingeladen.`,
    firstName: 'Name',
    password: 'Passwort',
    passwordHint: 'Mindestens 8 Zeichen',
    submit: 'Konto erstellen',
    join: name => `Als ${name} beitreten`,
    toSignIn: 'Zur Anmeldung',
    goneTitle: 'Einladung nicht gefunden',
    gone: 'Diese Einladung existiert nicht oder ist abgelaufen. Bitte einen Admin um eine neue.',
  },
}
