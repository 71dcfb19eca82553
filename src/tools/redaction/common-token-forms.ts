/** Tokens of the clouds, forges, models, messengers and payments that most people have, from their own documents. */
import { type TokenForm, UUID } from "./token-form.ts"

const r = String.raw

export const COMMON_TOKEN_FORMS: readonly TokenForm[] = [
  {
    kind: "api key",
    anchors: "sk-",
    form: r`(?<!-)sk-(?=[\w-]{0,60}\d|[\w-]{40})[\w-]{20,400}`,
    bits: 3,
  },
  {
    kind: "aws key id",
    anchors: "AKIA ASIA ABIA ACCA A3T",
    form: "(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z0-9]{16}",
  },
  {
    kind: "aws bedrock key",
    anchors: "ABSK",
    form: r`ABSK[A-Za-z0-9+/]{109,269}={0,2}`,
    ends: "(?![A-Za-z0-9+/=])",
  },
  {
    kind: "aws bedrock key",
    anchors: "bedrock-api-key-",
    form: r`bedrock-api-key-[A-Za-z0-9+/=]{20,4000}`,
  },
  {
    kind: "age key",
    anchors: "AGE-SECRET-KEY-1",
    form: "AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}",
    any: true,
  },
  {
    kind: "github token",
    anchors: "ghp_ gho_ ghu_ ghs_ ghr_",
    form: "gh[pousr]_[A-Za-z0-9]{36,255}",
  },
  { kind: "github token", anchors: "github_pat_", form: "github_pat_[A-Za-z0-9_]{36,255}" },
  {
    kind: "gitlab token",
    anchors:
      "glpat- glptt- gldt- glrt- glcbt- glft- glimt- glagent- gloas- glsoat- glffct- glrtr- glwt-",
    form: r`(?:glpat|gldt|glrt|glcbt|glft|glsoat|glffct|glrtr|glwt)-[\w.-]{20,300}`,
    bits: 2.5,
  },
  { kind: "gitlab token", anchors: "glptt-", form: "glptt-[0-9a-f]{40}" },
  { kind: "gitlab token", anchors: "glimt-", form: r`glimt-[\w-]{25}`, ends: r`(?![\w-])` },
  { kind: "gitlab token", anchors: "glagent-", form: r`glagent-[\w-]{50,1024}` },
  { kind: "gitlab token", anchors: "gloas-", form: r`gloas-[\w-]{64}`, ends: r`(?![\w-])` },
  { kind: "gitlab token", anchors: "GR1348941", form: r`GR1348941[\w-]{20,60}`, bits: 2.8 },
  { kind: "session cookie", anchors: "_gitlab_session=", form: "_gitlab_session=[0-9a-z]{32}" },
  {
    kind: "json web token",
    anchors: "eyJ eyj",
    form: r`ey[A-Za-z0-9][\w\\/-]{12,2000}\.ey[A-Za-z0-9][\w\\/-]{8,16000}(?:\.[\w\\/=-]{0,8000})?`,
    bits: 3,
  },
  { kind: "json web token", anchors: "ZXlK", form: r`ZXlK[\w+/-]{100,8000}={0,2}`, bits: 4 },
  {
    kind: "anthropic key",
    anchors: "sk-ant-",
    form: r`sk-ant-[a-z0-9]{2,12}-[\w-]{40,200}`,
    bits: 3,
  },
  {
    kind: "slack token",
    anchors: "xoxb- xoxp- xoxa- xoxo- xoxs- xoxr- xoxc- xoxd-",
    form: r`xox[bpaosrcd]-(?=[\w%-]{0,40}\d{6})[\w%-]{20,400}`,
    ends: "(?![A-Za-z0-9#-])",
  },
  {
    kind: "slack token",
    anchors: "xoxa- xoxr-",
    form: r`xox[ar]-(?:\d-)?(?=[a-z]*\d)[0-9a-z]{8,48}`,
  },
  { kind: "slack token", anchors: "xoxe-", form: r`xoxe-\d-[\w-]{40,400}` },
  { kind: "slack token", anchors: "xoxe.xox", form: r`xoxe\.xox[bp]-\d-[\w-]{40,400}` },
  {
    kind: "slack token",
    anchors: "xapp-",
    form: r`xapp-\d-[A-Za-z0-9]{8,15}-\d{10,15}-[a-z0-9]{20,80}`,
  },
  {
    kind: "slack webhook",
    anchors: "hooks.slack.com/",
    form: r`hooks\.slack\.com/(?:services|workflows|triggers)/[\w+/]{23,90}`,
    any: true,
  },
  {
    kind: "teams webhook",
    anchors: ".webhook.office.com/",
    form: r`\.webhook\.office\.com/webhookb2/[\w@-]{30,120}/IncomingWebhook/[0-9a-z]{32}/${UUID}`,
  },
  {
    kind: "discord webhook",
    anchors: "/api/webhooks/",
    form: r`/api/webhooks/\d{17,20}/[\w-]{60,80}`,
  },
  { kind: "google api key", anchors: "AIza", form: r`AIza[\w-]{35}`, bits: 4, ends: r`(?![\w-])` },
  { kind: "google oauth token", anchors: "ya29.", form: r`ya29\.[\w-]{30,400}` },
  { kind: "google client secret", anchors: "GOCSPX-", form: r`GOCSPX-[\w-]{28}` },
  {
    kind: "azure secret",
    anchors: "Q~",
    back: 4,
    form: r`[\w.~-]{3}\dQ~[\w.~-]{31,34}`,
    bits: 3,
    ends: r`(?![\w.~-])`,
  },
  {
    kind: "azure storage key",
    anchors: "AccountKey=",
    form: r`AccountKey=[A-Za-z0-9+/]{80,90}={0,2}`,
  },
  { kind: "azure signature", anchors: "sig=", form: r`sig=[A-Za-z0-9%+/]{43,70}(?:%3[dD]|=)` },
  {
    kind: "digitalocean token",
    anchors: "dop_v1_ doo_v1_ dor_v1_",
    form: "do[opr]_v1_[a-f0-9]{64}",
  },
  {
    kind: "stripe key",
    anchors: "sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_ rk_prod_",
    form: "[sr]k_(?:live|test|prod)_[A-Za-z0-9]{24,247}",
  },
  {
    kind: "stripe key",
    anchors: "sk_test_ sk_live_",
    form: "sk_(?:live|test)_(?=[A-Za-z]*[0-9])[A-Za-z0-9]{10,23}",
    bits: 3.2,
  },
  { kind: "webhook secret", anchors: "whsec_", form: "whsec_[A-Za-z0-9+/=]{24,80}" },
  { kind: "square token", anchors: "EAAA", form: r`EAAA[\w+=-]{22,60}`, bits: 3 },
  {
    kind: "square token",
    anchors: "sq0atp- sq0csp- sq0idp-",
    form: r`sq0(?:atp|csp|idp)-[\w+=-]{22,60}`,
  },
  { kind: "facebook token", anchors: "EAA", form: "EAA[MC][A-Za-z0-9]{100,400}" },
  {
    kind: "facebook token",
    anchors: "|",
    backOver: /\d/,
    form: r`\d{15,16}\|[\w-]{26,28}`,
    ends: r`(?![\w-])`,
  },
  {
    kind: "shopify token",
    anchors: "shpat_ shpca_ shppa_ shpss_ shprt_ shpua_",
    form: "shp(?:at|ca|pa|ss|rt|ua)_[A-Za-z0-9]{32,64}",
  },
]
