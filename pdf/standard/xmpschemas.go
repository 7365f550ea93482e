package standard

import (
	"encoding/xml"
	"slices"
	"strings"
	"sync"
)

// valueType is the type of a property of XMP (XMP Specification, September 2005, part 4): a simple
// type, the name of a structure, or bag, seq or alt and the type of what the container holds.
type valueType string

// Simple types. URIs, names of agents, choices and the like are texts.
const (
	textValue     valueType = "text"
	dateValue     valueType = "date"
	boolValue     valueType = "boolean"
	integerValue  valueType = "integer"
	realValue     valueType = "real"
	rationalValue valueType = "rational"
	langAlt       valueType = "lang-alt"
	anyValue      valueType = "any" // it is not judged
)

// words says a type in words.
func (t valueType) words() string {
	kind, of, ok := strings.Cut(string(t), " ")
	if name, container := map[string]string{"bag": "a list (rdf:Bag)", "seq": "an ordered list (rdf:Seq)", "alt": "alternatives (rdf:Alt)"}[kind]; ok && container {
		return name + " of which each is " + valueType(of).words()
	}
	simple := map[valueType]string{
		textValue: "a text", dateValue: "a date", boolValue: "True or False", integerValue: "a whole number", realValue: "a number",
		rationalValue: "a fraction such as 1/2", langAlt: "texts by language (rdf:Alt)",
	}
	if s, ok := simple[t]; ok {
		return s
	}
	return "a structure " + string(t)
}

// structure is a type of several fields, which are in one namespace.
type structure struct {
	space  string
	fields map[string]valueType
}

const (
	dublinCore = "http://purl.org/dc/elements/1.1/"
	xmpBasic   = "http://ns.adobe.com/xap/1.0/"
	xmpRights  = "http://ns.adobe.com/xap/1.0/rights/"
	xmpMedia   = "http://ns.adobe.com/xap/1.0/mm/"
	xmpJob     = "http://ns.adobe.com/xap/1.0/bj/"
	xmpPaged   = "http://ns.adobe.com/xap/1.0/t/pg/"
	xmpDynamic = "http://ns.adobe.com/xmp/1.0/DynamicMedia/"
	adobePDF   = "http://ns.adobe.com/pdf/1.3/"
	photoshop  = "http://ns.adobe.com/photoshop/1.0/"
	cameraRaw  = "http://ns.adobe.com/camera-raw-settings/1.0/"
	tiffImage  = "http://ns.adobe.com/tiff/1.0/"
	exifImage  = "http://ns.adobe.com/exif/1.0/"
	exifMore   = "http://ns.adobe.com/exif/1.0/aux/"
	pdfaID     = "http://www.aiim.org/pdfa/ns/id/"
)

// fieldsOf reads a table: a type, a colon and the names that have it, up to a semicolon.
func fieldsOf(table string) map[string]valueType {
	m := map[string]valueType{}
	for part := range strings.SplitSeq(table, ";") {
		t, names, _ := strings.Cut(part, ":")
		for n := range strings.FieldsSeq(names) {
			m[n] = valueType(strings.TrimSpace(t))
		}
	}
	return m
}

// structures are those of XMP and of its schemas for images.
var structures = sync.OnceValue(func() map[valueType]structure {
	return map[valueType]structure{
		"Thumbnail":     {"http://ns.adobe.com/xap/1.0/g/img/", fieldsOf("text: format image; integer: width height")},
		"ResourceEvent": {"http://ns.adobe.com/xap/1.0/sType/ResourceEvent#", fieldsOf("text: action instanceID parameters softwareAgent; date: when")},
		"ResourceRef":   {"http://ns.adobe.com/xap/1.0/sType/ResourceRef#", fieldsOf("text: instanceID documentID versionID renditionClass renditionParams manager managerVariant manageTo manageUI")},
		"Version":       {"http://ns.adobe.com/xap/1.0/sType/Version#", fieldsOf("text: comments modifier version; date: modifyDate; ResourceEvent: event")},
		"Job":           {"http://ns.adobe.com/xap/1.0/sType/Job#", fieldsOf("text: name id url")},
		"Dimensions":    {"http://ns.adobe.com/xap/1.0/sType/Dimensions#", fieldsOf("real: w h; text: unit")},
		"Font":          {"http://ns.adobe.com/xap/1.0/sType/Font#", fieldsOf("text: fontName fontFamily fontFace fontType versionString fontFileName; boolean: composite; seq text: childFontFiles")},
		"Colorant":      {"http://ns.adobe.com/xap/1.0/g/", fieldsOf("text: swatchName mode type; real: cyan magenta yellow black L; integer: red green blue A B")},
		"Flash":         {exifImage, fieldsOf("boolean: Fired Function RedEyeMode; integer: Return Mode")},
		"OECF":          {exifImage, fieldsOf("integer: Columns Rows; seq text: Names; seq rational: Values")},
		"CFAPattern":    {exifImage, fieldsOf("integer: Columns Rows; seq integer: Values")},
		"DeviceSetting": {exifImage, fieldsOf("integer: Columns Rows; seq text: Settings")},
	}
})

// schemas are the properties that XMP 2005 has, by their namespaces (ISO 19005-2, 6.6.2.3.1: what
// XMP has is used as XMP says).
var schemas = sync.OnceValue(func() map[string]map[string]valueType {
	return map[string]map[string]valueType{
		dublinCore: fieldsOf("bag text: contributor language publisher relation subject type; seq text: creator; seq date: date; lang-alt: description rights title; text: coverage format identifier source"),
		xmpBasic:   fieldsOf("bag text: Advisory Identifier; text: BaseURL CreatorTool Label Nickname; date: CreateDate MetadataDate ModifyDate; integer: Rating; alt Thumbnail: Thumbnails"),
		xmpRights:  fieldsOf("text: Certificate WebStatement; boolean: Marked; bag text: Owner; lang-alt: UsageTerms"),
		xmpMedia: fieldsOf("ResourceRef: DerivedFrom ManagedFrom RenditionOf; text: DocumentID InstanceID Manager ManageTo ManageUI ManagerVariant RenditionClass RenditionParams VersionID LastURL; " +
			"seq ResourceEvent: History; seq Version: Versions; integer: SaveID"),
		xmpJob:   fieldsOf("bag Job: JobRef"),
		xmpPaged: fieldsOf("Dimensions: MaxPageSize; integer: NPages; bag Font: Fonts; seq Colorant: Colorants; seq text: PlateNames"),
		xmpDynamic: fieldsOf("any: projectRef videoFrameSize videoPixelAspectRatio videoAlphaPremultipleColor fileDataRate startTimecode altTimecode duration markers contributedMedia introTime outCue " +
			"relativeTimestamp timeScaleParams resampleParams beatSpliceParams; text: videoFrameRate videoPixelDepth videoColorSpace videoAlphaMode videoCompressor videoFieldOrder pullDown " +
			"audioSampleType audioChannelType audioCompressor speakerPlacement tapeName altTapeName scene shotName shotLocation logComment absPeakAudioFilePath relativePeakAudioFilePath artist album " +
			"genre copyright composer engineer instrument key stretchMode timeSignature scaleType; boolean: videoAlphaUnityIsTransparent loop; integer: audioSampleRate trackNumber; " +
			"date: shotDate videoModDate audioModDate metadataModDate releaseDate; real: tempo numberOfBeats"),
		adobePDF:  fieldsOf("text: Keywords PDFVersion Producer"),
		photoshop: fieldsOf("text: AuthorsPosition CaptionWriter Category City Country Credit Headline Instructions Source State TransmissionReference; date: DateCreated; bag text: SupplementalCategories; integer: Urgency"),
		cameraRaw: fieldsOf("boolean: AutoBrightness AutoContrast AutoExposure AutoShadows HasCrop HasSettings; real: CropTop CropLeft CropBottom CropRight CropAngle CropWidth CropHeight Exposure; " +
			"integer: BlueHue BlueSaturation Brightness ChromaticAberrationB ChromaticAberrationR ColorNoiseReduction Contrast CropUnits GreenHue GreenSaturation LuminanceSmoothing RedHue RedSaturation " +
			"Saturation Shadows ShadowTint Sharpness Temperature Tint VignetteAmount VignetteMidpoint; text: CameraProfile RawFileName ToneCurveName Version WhiteBalance; any: ToneCurve"),
		tiffImage: fieldsOf("integer: ImageWidth ImageLength Compression PhotometricInterpretation Orientation SamplesPerPixel PlanarConfiguration YCbCrPositioning ResolutionUnit; " +
			"seq integer: BitsPerSample YCbCrSubSampling TransferFunction; rational: XResolution YResolution; seq rational: WhitePoint PrimaryChromaticities YCbCrCoefficients ReferenceBlackWhite; " +
			"date: DateTime; lang-alt: ImageDescription Copyright; text: Make Model Software Artist"),
		exifImage: fieldsOf("text: ExifVersion FlashpixVersion RelatedSoundFile SpectralSensitivity ImageUniqueID GPSVersionID GPSSatellites GPSStatus GPSMeasureMode GPSSpeedRef GPSTrackRef GPSImgDirectionRef " +
			"GPSMapDatum GPSDestBearingRef GPSDestDistanceRef GPSProcessingMethod GPSAreaInformation; any: GPSLatitude GPSLongitude GPSDestLatitude GPSDestLongitude; lang-alt: UserComment; " +
			"date: DateTimeOriginal DateTimeDigitized GPSTimeStamp; seq integer: ComponentsConfiguration ISOSpeedRatings SubjectArea SubjectLocation; " +
			"integer: ColorSpace PixelXDimension PixelYDimension ExposureProgram MeteringMode LightSource FocalPlaneResolutionUnit SensingMethod FileSource SceneType CustomRendered ExposureMode WhiteBalance " +
			"FocalLengthIn35mmFilm SceneCaptureType GainControl Contrast Saturation Sharpness SubjectDistanceRange GPSAltitudeRef GPSDifferential; " +
			"rational: CompressedBitsPerPixel ExposureTime FNumber ShutterSpeedValue ApertureValue BrightnessValue ExposureBiasValue MaxApertureValue SubjectDistance FocalLength FlashEnergy " +
			"FocalPlaneXResolution FocalPlaneYResolution ExposureIndex DigitalZoomRatio GPSAltitude GPSDOP GPSSpeed GPSTrack GPSImgDirection GPSDestBearing GPSDestDistance; " +
			"OECF: OECF SpatialFrequencyResponse; Flash: Flash; CFAPattern: CFAPattern; DeviceSetting: DeviceSettingDescription"),
		exifMore:   fieldsOf("text: Lens SerialNumber"),
		pdfaID:     fieldsOf("integer: part; text: conformance amd corr rev"),
		extensions: fieldsOf("any: schemas"),
	}
})

// typeOf returns the type of a property of XMP; ok is false where its namespace has none of that
// name, known tells then whether XMP has the namespace.
func typeOf(n xml.Name) (t valueType, ok, known bool) {
	s, known := schemas()[n.Space]
	t, ok = s[n.Local]
	return t, ok, known
}

// extended is what a packet describes of its own: the types of properties by their namespaces, and
// structures (ISO 19005-2, 6.6.2.3.3).
type extended struct {
	properties map[xml.Name]valueType
	structures map[string]structure
	wrong      string // the first description that is not as the standard asks; empty: none
}

// The namespaces of descriptions.
const (
	ofProperty = "http://www.aiim.org/pdfa/ns/property#"
	ofType     = "http://www.aiim.org/pdfa/ns/type#"
	ofField    = "http://www.aiim.org/pdfa/ns/field#"
)

// describe reads pdfaExtension:schemas.
func (x *extended) describe(e *element) {
	say := func(what string) {
		if x.wrong == "" {
			x.wrong = what
		}
	}
	// items returns the resources of a container.
	items := func(e *element, kind, what string) (list [][]*element) {
		if len(e.kids) != 1 || e.kids[0].name != (xml.Name{Space: rdf, Local: kind}) {
			say(what + " that is no rdf:" + kind)
			return nil
		}
		for _, li := range e.kids[0].kids {
			fields, ok := li.resource()
			if !ok {
				say(what + " with an item that is not a structure")
			}
			list = append(list, fields)
		}
		return list
	}
	// texts returns the texts of fields, of which some must be there and others may.
	texts := func(fields []*element, space, what string, must string, may ...string) map[string]string {
		got := map[string]string{}
		for _, f := range fields {
			switch {
			case f.name.Space != space:
				say(what + " with a field " + f.name.Local + " of another namespace")
			case slices.Contains(may, f.name.Local):
			case !slices.Contains(strings.Fields(must), f.name.Local):
				say(what + " with a field " + f.name.Local)
			case !f.is(textValue, nil):
				say(what + " whose " + f.name.Local + " is no text")
			default:
				got[f.name.Local] = strings.TrimSpace(f.text.String())
			}
		}
		for n := range strings.FieldsSeq(must) {
			if got[n] == "" && what != "a field" {
				say(what + " without " + n)
			}
		}
		return got
	}
	type use struct{ t, what string }
	var used []use
	for _, fields := range items(e, "Bag", "pdfaExtension:schemas") {
		of := texts(fields, schema, "an extension schema", "schema namespaceURI prefix", "property", "valueType")
		for _, f := range fields {
			switch f.name.Local {
			case "property":
				for _, p := range items(f, "Seq", "the properties of an extension schema") {
					t := texts(p, ofProperty, "a property", "name valueType category description")
					if c := t["category"]; c != "" && c != "external" && c != "internal" {
						say("a property whose category is neither external nor internal")
					}
					used = append(used, use{t["valueType"], "a property"})
					x.properties[xml.Name{Space: of["namespaceURI"], Local: t["name"]}] = declared(t["valueType"])
				}
			case "valueType":
				for _, v := range items(f, "Seq", "the types of an extension schema") {
					t := texts(v, ofType, "a type", "type namespaceURI prefix description", "field")
					s := structure{t["namespaceURI"], map[string]valueType{}}
					for _, k := range v {
						if k.name.Local != "field" {
							continue
						}
						for _, w := range items(k, "Seq", "the fields of a type") {
							ft := texts(w, ofField, "a field", "name valueType description")
							used = append(used, use{ft["valueType"], "a field"})
							s.fields[ft["name"]] = declared(ft["valueType"])
						}
					}
					x.structures[t["type"]] = s
				}
			}
		}
	}
	for _, u := range used {
		t := string(declared(u.t))
		for {
			kind, of, ok := strings.Cut(t, " ")
			if !ok || kind != "bag" && kind != "seq" && kind != "alt" {
				break
			}
			t = of
		}
		_, own := x.structures[t]
		_, structured := structures()[valueType(t)]
		if u.t != "" && !own && !structured && !simpleTypes[valueType(t)] {
			say(u.what + " of the type " + u.t + ", which is not described")
		}
	}
}

var simpleTypes = map[valueType]bool{
	textValue: true, dateValue: true, boolValue: true, integerValue: true, realValue: true, rationalValue: true, langAlt: true, anyValue: true,
}

// declared reads the name of a type as descriptions have it, such as Text, bag Integer or closed
// Choice of Text.
func declared(s string) valueType {
	words := strings.Fields(s)
	lower := strings.ToLower(strings.Join(words, " "))
	switch {
	case len(words) == 0:
		return anyValue
	case lower == "lang alt":
		return langAlt
	case strings.HasPrefix(lower, "bag ") || strings.HasPrefix(lower, "seq ") || strings.HasPrefix(lower, "alt "):
		return valueType(lower[:3]) + " " + declared(strings.Join(words[1:], " "))
	case strings.HasPrefix(lower, "open choice") || strings.HasPrefix(lower, "closed choice"):
		if _, of, ok := strings.Cut(s, " of "); ok {
			return declared(of)
		}
		return textValue
	}
	switch lower {
	case "boolean", "date", "integer", "real", "rational", "text":
		return valueType(lower)
	case "agentname", "propername", "mimetype", "locale", "renditionclass", "uri", "url", "xpath", "guid", "choice":
		return textValue
	case "gpscoordinate":
		return anyValue
	}
	return valueType(strings.Join(words, " "))
}
