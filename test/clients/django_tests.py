# What Django's own key types do beyond INSERT and SELECT: django_client.py runs these tests of UlidField and
# SnowflakeField in its project, in a database that Django's test runner creates.

from datetime import timedelta

from django import forms
from django.contrib.postgres.aggregates import ArrayAgg
from django.contrib.postgres.forms import SimpleArrayField
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.core.serializers import deserialize, serialize
from django.core.serializers.base import DeserializationError
from django.db import transaction
from django.db.models import OuterRef, Subquery
from django.db.models.functions import Now
from django.test import TestCase
from django.utils import timezone
from shop.models import Invoice, Item, Order, Visit

ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
AN_HOUR_AGO = timezone.now() - timedelta(hours=1)


class Fixtures(TestCase):
    fixtures = ["orders"]

    def test_a_fixture_is_loaded_with_and_without_explicit_ids(self):
        self.assertEqual(Order.objects.get(id=ULID).body, "a fixture")
        self.assertEqual(Order.objects.get(id__since=AN_HOUR_AGO).body, "a fixture without an ID")
        self.assertEqual(Invoice.objects.get().id, 1)

    def test_references_and_arrays_of_a_fixture_are_loaded(self):
        item = Item.objects.get()
        self.assertEqual((item.id, item.order_id, item.related), (ULID, ULID, [ULID, None]))
        self.assertEqual(Visit.objects.get().orders.get().id, ULID)

    def test_keys_continue_after_a_fixture(self):
        self.assertEqual(len(Order.objects.create(body="").id), 26)
        self.assertGreater(Invoice.objects.create(body="").id, 2**53)
        self.assertGreater(Visit.objects.create().id, 2**53)

    def test_serialized_objects_are_read_again(self):
        for kind in "json", "jsonl", "xml", "python":
            document = serialize(kind, [*Item.objects.all(), *Order.objects.all()])
            self.assertEqual({row.object.pk for row in deserialize(kind, document)},
                             {Item.objects.get().id, *Order.objects.values_list("id", flat=True)})

    def test_a_malformed_id_in_a_fixture_is_an_error_of_the_fixture(self):
        with self.assertRaises(DeserializationError):
            call_command("loaddata", "malformed", verbosity=0)


class MalformedIds(TestCase):
    def test_queries_raise_a_validation_error(self):
        for lookup in "id", "id__gt", "item", "item__order", "item__order__in", "item__related__contains":
            value = ["garbage"] if lookup.endswith(("in", "contains")) else "garbage"
            with self.subTest(lookup), self.assertRaises(ValidationError):
                Order.objects.filter(**{lookup: value}).exists()
        for id in "garbage", "", ULID[:-1], ULID + "\n", "8" + ULID[1:], "I" * 26, "01ARZ3NDEKTſV4RRFFQ69G5FAV", 5:
            with self.subTest(id), self.assertRaises(ValidationError):
                Order.objects.get(id=id)

    def test_no_row_is_written(self):
        order = Order.objects.create(body="")
        for write in [lambda: Order.objects.create(id="garbage", body=""), lambda: Item(order_id="garbage").save(),
                      lambda: Item(order=order, related=["garbage"]).save(),
                      lambda: Order.objects.bulk_create([Order(id="garbage")])]:
            with self.assertRaises(ValidationError), transaction.atomic():
                write()
        self.assertEqual(Order.objects.count(), 1)

    def test_forms_are_invalid(self):
        order = Order.objects.create(body="")
        form_class = forms.modelform_factory(Item, fields="__all__")
        self.assertEqual(list(form_class.base_fields), ["order", "replaces", "related"])
        for field in "order", "replaces", "related":
            form = form_class({"order": order.id, field: "garbage"})
            self.assertEqual(list(form.errors), [field])
        item = form_class({"order": order.id, "related": f"{order.id},{ULID.lower()}"}).save()
        item.refresh_from_db()
        self.assertEqual((item.replaces, item.related), (None, [order.id, ULID]))
        item.replaces = ULID.lower()
        item.full_clean()
        self.assertEqual(item.replaces, ULID)
        item.replaces = "garbage"
        with self.assertRaises(ValidationError):
            item.full_clean()
        Order(body="an order without an ID").full_clean()

    def test_formsets_are_invalid(self):
        order = Order.objects.create(body="before")
        formset_class = forms.modelformset_factory(Order, fields=["body"], extra=0)
        for id, valid in (order.id, True), (order.id.lower(), True), ("garbage", False):
            formset = formset_class({"form-TOTAL_FORMS": 1, "form-INITIAL_FORMS": 1,
                                     "form-0-id": id, "form-0-body": "after"})
            self.assertEqual(formset.is_valid(), valid, id)
            self.assertEqual(formset[0].instance.id, order.id if valid else None)

    def test_an_url_is_not_found(self):
        order = Order.objects.create(body="found")
        self.assertEqual(self.client.get(f"/orders/{order.id.lower()}/").content, b"found")
        for path in f"/orders/{ULID}/", "/orders/garbage/", f"/orders/{ULID}0/", "/orders/%00/":
            self.assertEqual(self.client.get(path).status_code, 404)

    def test_a_malformed_time_raises_a_validation_error(self):
        with self.assertRaises(ValidationError):
            Order.objects.filter(id__since="garbage")


class Relations(TestCase):
    def setUp(self):
        self.order = Order.objects.create(body="")
        self.old = Order.objects.create(id=ULID, body="")
        self.item = Item.objects.create(order=self.order, replaces=ULID)
        self.visit = Visit.objects.create()
        self.visit.orders.set([self.order])
        Item.objects.create(order=self.old)

    def test_lookups_through_relations(self):
        for condition in [dict(order=self.order.id.lower()), dict(order__since=AN_HOUR_AGO.isoformat()),
                          dict(order__since=Now() - timedelta(hours=1)), dict(order__id__since=AN_HOUR_AGO),
                          dict(order__in=Order.objects.filter(id__since=AN_HOUR_AGO)), dict(order__visit=self.visit)]:
            self.assertEqual(Item.objects.get(**condition), self.item)
        self.assertEqual(Item.objects.exclude(order__since=AN_HOUR_AGO).get().order, self.old)
        self.assertEqual(Item.objects.get(order__since=AN_HOUR_AGO), self.item)
        self.assertEqual(Visit.objects.get(orders__since=AN_HOUR_AGO), self.visit)
        self.assertEqual(Order.objects.filter(item__since=AN_HOUR_AGO).count(), 2)
        self.assertEqual(Item.objects.select_related("order").get(order__item=self.item).order, self.order)
        self.assertEqual([item.order for item in Item.objects.prefetch_related("order").order_by("order")],
                         [self.old, self.order])

    def test_a_time_without_a_zone_is_in_the_default_time_zone(self):
        an_hour_ago = timezone.make_naive(AN_HOUR_AGO, timezone.get_default_timezone())
        with self.assertWarns(RuntimeWarning):
            self.assertEqual(Item.objects.get(order__since=an_hour_ago), self.item)
            self.assertEqual(Item.objects.get(order__since=(an_hour_ago - timedelta(days=1)).date()), self.item)

    def test_subqueries(self):
        orders = Order.objects.filter(id=OuterRef("order"))
        self.assertEqual(Item.objects.annotate(x=Subquery(orders.values("id"))).get(x=self.order.id), self.item)


class Arrays(TestCase):
    def test_a_column_returns_lists(self):
        order = Order.objects.create(body="")
        for related in [], [ULID], [None, order.id.lower()]:
            item = Item.objects.create(order=order, related=related)
            item.refresh_from_db()
            self.assertEqual(item.related, [id and id.upper() for id in related])
        self.assertEqual(Item.objects.get(related__contains=[ULID]).related, [ULID])
        self.assertEqual(Item.objects.get(related__0=ULID.lower()).related, [ULID])
        self.assertEqual(Item.objects.filter(related__overlap=[ULID, order.id]).count(), 2)
        self.assertEqual(Item.objects.aggregate(ids=ArrayAgg("replaces"))["ids"], [None] * 3)
        self.assertIsInstance(Item._meta.get_field("related").formfield(), SimpleArrayField)


class Inserts(TestCase):
    def test_bulk_create_returns_the_ids(self):
        first, second, third = Order.objects.bulk_create([Order(body="1"), Order(id=ULID, body="2"), Order(body="3")])
        self.assertEqual([order.body for order in Order.objects.order_by("id")], ["2", "1", "3"])
        self.assertEqual(Order.objects.get(id=third.id).body, "3")
        self.assertLess(first.id, third.id)

    def test_get_or_create_and_update_or_create(self):
        order, created = Order.objects.get_or_create(id=ULID, defaults={"body": "first"})
        self.assertTrue(created)
        same, created = Order.objects.update_or_create(id=ULID.lower(), defaults={"body": "second"})
        self.assertEqual((same, created), (order, False))
        order.refresh_from_db()
        self.assertEqual(order.body, "second")
        self.assertEqual(Order.objects.in_bulk([ULID.lower()]), {ULID: order})

    def test_bulk_update_and_delete(self):
        order = Order.objects.create(body="before")
        order.body = "after"
        Order.objects.bulk_update([order], ["body"])
        self.assertEqual(Order.objects.get().body, "after")
        item = Item.objects.create(order=order)
        item.replaces = ULID.lower()
        Item.objects.bulk_update([item], ["replaces"])
        self.assertEqual(Item.objects.get(replaces=ULID), item)
        order.delete()
        self.assertFalse(Item.objects.exists())
